//! Draws the rooms of the crates: what imports stands above what is imported.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::rooms::Rooms;

const BOX_WIDTH: usize = 132;
const BOX_HEIGHT: usize = 30;
const COLUMN: usize = BOX_WIDTH + 16;
const ROW: usize = 64;
const MARGIN: usize = 24;
const TITLE: usize = 34;

/// Colours that read on a light and on a dark page.
const STYLE: &str = "<style>
  text { font: 13px sans-serif; fill: #1f2328; }
  .crate { font-weight: bold; font-size: 15px; }
  rect { fill: #eef4fb; stroke: #57606a; rx: 6px; }
  path { fill: none; stroke: #8c959f; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    rect { fill: #1c2733; stroke: #8b949e; }
    path { stroke: #6e7681; }
  }
</style>
";

/// Draws crates one above the other, the one that imports the others first.
pub(crate) fn draw(crates: &[(&str, Rooms)]) -> String {
    let (mut body, mut width, mut top) = (String::new(), 0, MARGIN);
    for (name, rooms) in crates {
        let drawn = draw_crate(&mut body, name, rooms, top);
        width = width.max(drawn.width);
        top += drawn.height + MARGIN;
    }
    let width = width + 2 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {top}\" width=\"{width}\" \
         height=\"{top}\" role=\"img\" aria-label=\"Which folder imports which\">\n\
         {STYLE}{body}</svg>\n"
    )
}

struct Size {
    width: usize,
    height: usize,
}

fn draw_crate(body: &mut String, name: &str, rooms: &Rooms, top: usize) -> Size {
    let heights = rooms.heights();
    let highest = heights.values().copied().max().unwrap_or(0);
    let mut rows = vec![Vec::new(); highest + 1];
    for (room, height) in &heights {
        rows[highest - height].push(*room);
    }
    let widest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut places = BTreeMap::new();
    for (row, names) in rows.iter().enumerate() {
        let indent = (widest - names.len()) * COLUMN / 2;
        for (column, room) in names.iter().enumerate() {
            let left = MARGIN + indent + column * COLUMN;
            places.insert(*room, (left, top + TITLE + row * ROW));
        }
    }
    writeln!(body, "<text class=\"crate\" x=\"{MARGIN}\" y=\"{}\">{name}</text>", top + 14)
        .unwrap();
    for (room, (left, above)) in &places {
        for below in rooms.direct(room) {
            let (x, y) = (left + BOX_WIDTH / 2, above + BOX_HEIGHT);
            let (to_left, to_y) = places[below];
            let to_x = to_left + BOX_WIDTH / 2;
            let middle = usize::midpoint(y, to_y);
            let line = format!("M{x} {y} C{x} {middle} {to_x} {middle} {to_x} {to_y}");
            writeln!(body, "<path d=\"{line}\"/>").unwrap();
        }
    }
    for (room, (left, above)) in &places {
        let (x, y) = (left + BOX_WIDTH / 2, above + 20);
        writeln!(
            body,
            "<rect x=\"{left}\" y=\"{above}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\"/>\
             <text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\">{room}</text>"
        )
        .unwrap();
    }
    Size { width: widest * COLUMN, height: TITLE + rows.len() * ROW }
}
