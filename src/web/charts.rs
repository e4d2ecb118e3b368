//! The charts of the dashboard: done tasks, time in state, ready and blocked tasks.

use serde::Serialize;

use super::svg::Svg;
use crate::app::{Day, Trends};

#[derive(Debug, Serialize)]
pub struct Charts {
    pub finished: String,
    pub standing: String,
    pub times: String,
}

pub fn all(trends: &Trends) -> Charts {
    Charts { finished: finished(trends), standing: standing(trends), times: times(trends) }
}

const WIDTH: f64 = 560.0;
const RIGHT: f64 = 22.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 34.0;
const BOTTOM: f64 = 24.0;
const TOP: f64 = 12.0;

/// Converts values into positions.
struct Scale {
    most: f64,
    count: usize,
}

impl Scale {
    fn new(values: impl Iterator<Item = usize>, count: usize) -> Self {
        let most = values.max().unwrap_or(0).max(4);
        // Rounded up to a number that can be divided by four lines.
        Self { most: (most.div_ceil(4) * 4) as f64, count }
    }

    fn y(&self, value: usize) -> f64 {
        HEIGHT - BOTTOM - value as f64 / self.most * (HEIGHT - BOTTOM - TOP)
    }

    fn step(&self) -> f64 {
        (WIDTH - LEFT - RIGHT) / self.count.max(1) as f64
    }

    fn x(&self, at: usize) -> f64 {
        LEFT + (at as f64 + 0.5) * self.step()
    }

    /// Draws the lines with their values, and a date every few days.
    fn frame(&self, svg: &mut Svg, days: &[Day]) {
        for quarter in 0..=4 {
            let value = self.most as usize * quarter / 4;
            svg.line("grid", (LEFT, self.y(value)), (WIDTH - RIGHT, self.y(value)));
            svg.text("tick end", (LEFT - 6.0, self.y(value) + 4.0), &value.to_string());
        }
        let every = days.len().div_ceil(6).max(1);
        for (at, day) in days.iter().enumerate().rev().step_by(every) {
            svg.text("tick middle", (self.x(at), HEIGHT - 6.0), &date(day));
        }
    }
}

fn date(day: &Day) -> String {
    day.at.strftime("%-d %b").to_string()
}

fn finished(trends: &Trends) -> String {
    let total: usize = trends.finished.iter().sum();
    let label = format!("{total} tasks done in {} days", trends.days.len());
    let mut svg = Svg::new("chart", WIDTH, HEIGHT, &label);
    let scale = Scale::new(trends.finished.iter().copied(), trends.days.len());
    scale.frame(&mut svg, &trends.days);
    let width = (scale.step() * 0.7).min(28.0);
    for (at, (&count, day)) in trends.finished.iter().zip(&trends.days).enumerate() {
        let corner = (scale.x(at) - width / 2.0, scale.y(count));
        let size = (width, scale.y(0) - scale.y(count));
        svg.rect("series done", corner, size, 2.0, &format!("{}: {count}", date(day)));
    }
    svg.finish()
}

/// A series: its class, its name, and its value for a day.
type Series = (&'static str, &'static str, fn(&Day) -> usize);
const SERIES: [Series; 3] =
    [("open", "open", |day| day.open), ("ready", "ready", |day| day.ready), ("blocked", "blocked", |day| day.blocked)];

fn standing(trends: &Trends) -> String {
    let label = trends
        .days
        .last()
        .map_or_else(String::new, |now| format!("now {} open, {} ready, {} blocked", now.open, now.ready, now.blocked));
    let mut svg = Svg::new("chart", WIDTH, HEIGHT, &label);
    let scale = Scale::new(trends.days.iter().map(|day| day.open), trends.days.len());
    scale.frame(&mut svg, &trends.days);
    for (class, _, of) in SERIES {
        let points = trends.days.iter().enumerate().map(|(at, day)| (scale.x(at), scale.y(of(day))));
        let line: String = points.map(|(x, y)| format!("L{x:.1} {y:.1}")).collect::<String>().replacen('L', "M", 1);
        if class == "open" {
            let (first, last) = (scale.x(0), scale.x(trends.days.len().saturating_sub(1)));
            svg.path("area open", &format!("{line}L{last:.1} {:.1}L{first:.1} {:.1}Z", scale.y(0), scale.y(0)));
        }
        svg.path(&format!("trend {class}"), &line);
    }
    for (class, name, of) in SERIES {
        for (at, day) in trends.days.iter().enumerate() {
            svg.dot(
                &format!("point {class}"),
                (scale.x(at), scale.y(of(day))),
                &format!("{}: {} {name}", date(day), of(day)),
            );
        }
    }
    svg.finish()
}

fn times(trends: &Trends) -> String {
    const ROW: f64 = 26.0;
    const NAME: f64 = 160.0;
    let known: Vec<_> = trends.states.iter().filter(|state| state.left > 0).collect();
    let longest = known.iter().filter_map(|state| state.most_hours).fold(1.0, f64::max);
    let height = ROW * known.len().max(1) as f64 + 12.0;
    let mut svg = Svg::new("chart", WIDTH, height, "how long tasks stay in each state");
    if known.is_empty() {
        svg.text("tick", (8.0, 24.0), "no task has left a state yet");
    }
    for (row, state) in known.into_iter().enumerate() {
        let y = 6.0 + row as f64 * ROW;
        let (median, most) = (state.median_hours.unwrap_or_default(), state.most_hours.unwrap_or_default());
        let wide = |hours: f64| (hours / longest * (WIDTH - NAME - 110.0)).max(2.0);
        let tells = format!("{}: 50% within {}, 90% within {}", state.state, span(median), span(most));
        svg.text("tick end name", (NAME - 8.0, y + 16.0), state.state.as_str());
        svg.rect("series most", (NAME, y + 4.0), (wide(most), ROW - 10.0), 3.0, &tells);
        svg.rect("series median", (NAME, y + 4.0), (wide(median), ROW - 10.0), 3.0, &tells);
        let said = format!("{} · {}", span(median), span(most));
        svg.text("tick", (NAME + wide(most) + 8.0, y + 16.0), &said);
    }
    svg.finish()
}

fn span(hours: f64) -> String {
    match hours {
        hours if hours < 1.0 => format!("{:.0} min", hours * 60.0),
        hours if hours < 48.0 => format!("{hours:.1} h"),
        hours => format!("{:.1} d", hours / 24.0),
    }
}
