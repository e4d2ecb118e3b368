//! Which columns fit side by side: those with cards are open, empty ones are folded, and the focused one is always visible.

/// The minimum width of a column with cards.
const NARROWEST: u16 = 24;
const WIDEST: u16 = 44;
const FOLDED: u16 = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnSlot {
    Open(usize),
    /// One or several empty columns.
    Folded(Vec<usize>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    pub slot: ColumnSlot,
    pub x: u16,
    pub width: u16,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct ColumnPlan {
    pub placed: Vec<Placed>,
    /// The numbers of hidden columns with cards on both sides.
    pub left: usize,
    pub right: usize,
    /// The first visible column, among those with cards.
    pub first: usize,
}

/// `filled` tells for each column whether it has cards. The pinned column is always visible.
pub fn plan(filled: &[bool], focused: usize, first: usize, width: u16, pinned: Option<usize>) -> ColumnPlan {
    let single = slots(filled, |_| false);
    if needed(&single) <= width {
        return ColumnPlan { placed: place(&single, width), ..ColumnPlan::default() };
    }
    let grouped = slots(filled, |before| matches!(before, ColumnSlot::Folded(_)));
    if needed(&grouped) <= width {
        return ColumnPlan { placed: place(&grouped, width), ..ColumnPlan::default() };
    }
    let whole = scrolled(&grouped, focused, first, width);
    let pin = pinned.map(ColumnSlot::Open).filter(|slot| grouped.contains(slot));
    match pin.filter(|pin| width >= 2 * NARROWEST && whole.placed.iter().all(|placed| placed.slot != *pin)) {
        None => whole,
        Some(pin) => {
            let others: Vec<ColumnSlot> = grouped.into_iter().filter(|slot| *slot != pin).collect();
            let mut plan = scrolled(&others, focused, first, width - NARROWEST);
            plan.placed.push(Placed { slot: pin, x: width - NARROWEST, width: NARROWEST });
            plan
        }
    }
}

/// The slots of the columns. An empty column joins the previous slot if `joins` returns true.
fn slots(filled: &[bool], joins: impl Fn(&ColumnSlot) -> bool) -> Vec<ColumnSlot> {
    let mut slots: Vec<ColumnSlot> = Vec::new();
    for (column, filled) in filled.iter().enumerate() {
        match slots.last_mut() {
            _ if *filled => slots.push(ColumnSlot::Open(column)),
            Some(before) if joins(before) => {
                if let ColumnSlot::Folded(columns) = before {
                    columns.push(column);
                }
            }
            _ => slots.push(ColumnSlot::Folded(vec![column])),
        }
    }
    slots
}

fn least(slot: &ColumnSlot) -> u16 {
    match slot {
        ColumnSlot::Open(_) => NARROWEST,
        ColumnSlot::Folded(_) => FOLDED,
    }
}

fn needed(slots: &[ColumnSlot]) -> u16 {
    slots.iter().map(least).fold(0, u16::saturating_add)
}

fn scrolled(slots: &[ColumnSlot], focused: usize, first: usize, width: u16) -> ColumnPlan {
    let opens: Vec<usize> = (0..slots.len()).filter(|&at| matches!(slots[at], ColumnSlot::Open(_))).collect();
    let focus = opens.iter().position(|&at| slots[at] == ColumnSlot::Open(focused)).unwrap_or(0);
    // Folded columns are visible between open ones, and at the ends of the board.
    let window = |from: usize, to: usize| {
        let start = if from == 0 { 0 } else { opens[from] };
        let end = if to + 1 == opens.len() { slots.len() } else { opens[to] + 1 };
        &slots[start..end]
    };
    let mut first = first.min(focus);
    while first < focus && needed(window(first, focus)) > width {
        first += 1;
    }
    let mut last = first.max(focus);
    while last + 1 < opens.len() && needed(window(first, last + 1)) <= width {
        last += 1;
    }
    while first > 0 && needed(window(first - 1, last)) <= width {
        first -= 1;
    }
    let mut shown = window(first, last);
    if needed(shown) > width {
        shown = &slots[opens[first]..=opens[last]];
    }
    ColumnPlan { placed: place(shown, width), left: first, right: opens.len() - 1 - last, first }
}

/// Distributes the remaining width among columns with cards, up to a maximum width.
fn place(slots: &[ColumnSlot], width: u16) -> Vec<Placed> {
    let opens = slots.iter().filter(|slot| matches!(slot, ColumnSlot::Open(_))).count() as u16;
    let folded = FOLDED * (slots.len() as u16 - opens);
    let each = (width.saturating_sub(folded) / opens.max(1)).min(WIDEST);
    let mut spare = if each < WIDEST { width.saturating_sub(folded) % opens.max(1) } else { 0 };
    let mut x = 0;
    let mut placed = Vec::new();
    for slot in slots {
        let width = match slot {
            ColumnSlot::Folded(_) => FOLDED,
            ColumnSlot::Open(_) => {
                let more = spare.min(1);
                spare -= more;
                each + more
            }
        };
        placed.push(Placed { slot: slot.clone(), x, width });
        x += width;
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(plan: &ColumnPlan) -> Vec<usize> {
        let column = |placed: &Placed| match placed.slot {
            ColumnSlot::Open(column) => Some(column),
            ColumnSlot::Folded(_) => None,
        };
        plan.placed.iter().filter_map(column).collect()
    }

    #[test]
    fn the_focused_column_is_in_sight_wherever_it_is_and_nothing_leaves_the_width() {
        for width in [40, 60, 80, 100, 120, 200, 400] {
            for mask in 1..(1_usize << 11) {
                let filled: Vec<bool> = (0..11).map(|at| mask & (1 << at) != 0).collect();
                for focused in (0..11).filter(|&at| filled[at]) {
                    let pinned = (mask % 2 == 0).then_some(10);
                    let plan = plan(&filled, focused, focused / 2, width, pinned);
                    assert!(open(&plan).contains(&focused), "{width} {filled:?} {focused}: {plan:?}");
                    let end = plan.placed.iter().map(|placed| placed.x + placed.width).max().unwrap();
                    assert!(end <= width, "{width} {filled:?}: {plan:?}");
                    let all = filled.iter().filter(|filled| **filled).count();
                    assert_eq!(plan.left + open(&plan).len() + plan.right, all, "{plan:?}");
                }
            }
        }
    }

    #[test]
    fn empty_columns_stand_alone_where_there_is_room_and_together_where_there_is_not() {
        let filled = [true, false, false, true, false];
        let folded = |width| plan(&filled, 0, 0, width, None).placed.iter().filter(|p| p.width == FOLDED).count();
        assert_eq!(folded(60), 3);
        assert_eq!(folded(56), 2);
    }

    #[test]
    fn the_pinned_column_is_in_sight_wherever_the_others_are_scrolled_to() {
        let filled = [true; 11];
        for (width, focused) in [(60, 0), (150, 3), (200, 9)] {
            let plan = plan(&filled, focused, 0, width, Some(10));
            assert_eq!(open(&plan).last(), Some(&10), "{width} {plan:?}");
            assert!(open(&plan).contains(&focused), "{width} {plan:?}");
        }
        assert!(!open(&plan(&filled, 0, 0, 40, Some(10))).contains(&10), "there is room for one");
    }

    #[test]
    fn what_is_in_sight_stays_while_the_focus_moves_inside_it() {
        let filled = [true; 11];
        let at = |focused, first| plan(&filled, focused, first, 90, None).first;
        assert_eq!((at(4, 3), at(5, 3), at(6, 3), at(2, 3)), (3, 3, 4, 2));
    }
}
