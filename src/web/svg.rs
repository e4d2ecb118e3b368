//! SVG drawings: a few shapes, with all text escaped.

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar as _;

use super::markdown::escape;

pub struct Svg {
    out: String,
}

impl Svg {
    /// `label` is the description for screen readers.
    pub fn new(class: &str, width: f64, height: f64, label: &str) -> Self {
        let mut out = String::new();
        let _ = write!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{class}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
             width=\"{width:.0}\" height=\"{height:.0}\" role=\"{}\" aria-label=\"{}\">",
            if class == "graph" { "group" } else { "img" },
            escape(label)
        );
        Self { out }
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = write!(
            self.out,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    pub fn path(&mut self, class: &str, d: &str) {
        let _ = write!(self.out, "<path class=\"{class}\" d=\"{d}\"/>");
    }

    /// A box with a tooltip.
    pub fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64), round: f64, tells: &str) {
        let _ = write!(
            self.out,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{round}\">",
            at.0,
            at.1,
            size.0.max(0.0),
            size.1.max(0.0)
        );
        if !tells.is_empty() {
            let _ = write!(self.out, "<title>{}</title>", escape(tells));
        }
        self.out.push_str("</rect>");
    }

    pub fn text(&mut self, class: &str, at: (f64, f64), text: &str) {
        let _ = write!(self.out, "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>", at.0, at.1, escape(text));
    }

    pub fn dot(&mut self, class: &str, at: (f64, f64), tells: &str) {
        let _ = write!(
            self.out,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\"><title>{}</title></circle>",
            at.0,
            at.1,
            escape(tells)
        );
    }

    pub fn open_link(&mut self, href: &str, class: &str) {
        let _ = write!(self.out, "<a href=\"{}\" class=\"{class}\">", escape(href));
    }

    pub fn close_link(&mut self) {
        self.out.push_str("</a>");
    }

    pub fn finish(mut self) -> String {
        self.out.push_str("</svg>");
        self.out
    }
}

/// The beginning of a text that is at most this many cells wide.
pub fn cut(text: &str, most: usize) -> String {
    let mut width = 0;
    let mut out = String::new();
    for c in text.chars() {
        width += c.width().unwrap_or(0);
        if width > most {
            out.push('…');
            return out;
        }
        out.push(c);
    }
    out
}
