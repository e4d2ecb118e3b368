mod board; mod config; mod fs; mod git; mod task; mod workflow; mod store;
