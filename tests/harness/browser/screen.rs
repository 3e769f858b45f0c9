//! A screen that nobody sees, with a mouse: for what only a user's eyes and hands can do.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::time::sleep;

use crate::machine::TIMEOUT;

const WIDTH: u32 = 1600;
const HEIGHT: u32 = 1000;

/// An X server of our own.
#[derive(Debug)]
pub struct Screen {
    server: Child,
    display: String,
    framebuffer: PathBuf,
}

/// A colour on the screen: red, green, blue.
pub type Colour = [u8; 3];

impl Screen {
    pub(crate) fn start(folder: &Path) -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-nolisten", "tcp", "-screen", "0"])
            .arg(format!("{WIDTH}x{HEIGHT}x24"))
            .arg("-fbdir")
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is installed; `make test` does that");
        let stdout = BufReader::new(server.stdout.take().expect("stdout is a pipe"));
        let number = stdout.lines().next().expect("Xvfb starts").expect("Xvfb says where");
        let framebuffer = folder.join("Xvfb_screen0");
        Self { server, display: format!(":{number}"), framebuffer }
    }

    pub(crate) fn display(&self) -> &str {
        &self.display
    }

    /// Clicks the middle of what has this colour, as soon as it is there.
    pub async fn click(&self, what: &str, colour: Colour) {
        let place = self.find(what, colour).await;
        self.click_at(place);
    }

    /// Works like [`Screen::click`], for what is further down than so many pixels.
    pub async fn click_below(&self, top: u32, what: &str, colour: Colour) {
        let look = || self.middle_of(colour, top);
        let place = self.until(&format!("{what} to be seen"), look).await;
        self.click_at(place);
    }

    /// Presses a key, by the name that X gives it.
    pub fn press(&self, key: &str) {
        let status =
            Command::new("xdotool").args(["key", key]).env("DISPLAY", &self.display).status();
        assert!(status.expect("xdotool is installed").success());
    }

    /// Clicks a place.
    pub fn click_at(&self, (x, y): (u32, u32)) {
        let status = Command::new("xdotool")
            .args(["mousemove", &x.to_string(), &y.to_string(), "click", "1"])
            .env("DISPLAY", &self.display)
            .status();
        assert!(status.expect("xdotool is installed").success());
    }

    /// Drags what is at one place to another, as slowly as a hand: programs look at the way.
    pub async fn drag(&self, from: (u32, u32), to: (u32, u32)) {
        const STEPS: i64 = 25;
        let mouse = |arguments: &[&str]| {
            let status =
                Command::new("xdotool").args(arguments).env("DISPLAY", &self.display).status();
            assert!(status.expect("xdotool is installed").success());
        };
        let between = |from: u32, to: u32, step: i64| {
            let (from, to) = (i64::from(from), i64::from(to));
            (from + (to - from) * step / STEPS).to_string()
        };
        mouse(&["mousemove", &from.0.to_string(), &from.1.to_string()]);
        sleep(Duration::from_millis(200)).await;
        mouse(&["mousedown", "1"]);
        for step in 0..=STEPS {
            mouse(&["mousemove", &between(from.0, to.0, step), &between(from.1, to.1, step)]);
            sleep(Duration::from_millis(30)).await;
        }
        // A hand rests where it lets go.
        sleep(Duration::from_millis(500)).await;
        mouse(&["mouseup", "1"]);
    }

    /// Waits until a colour is on the screen, and gives the middle of it.
    pub async fn find(&self, what: &str, colour: Colour) -> (u32, u32) {
        self.until(&format!("{what} to be seen"), || self.middle_of(colour, 0)).await
    }

    /// Saves a picture for a person to look at.
    pub fn save(&self, name: &str) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/screenshots");
        std::fs::create_dir_all(&folder).expect("there is room for pictures");
        let file = std::fs::File::create(folder.join(format!("{name}.png")));
        let mut encoder = png::Encoder::new(file.expect("a picture can be saved"), WIDTH, HEIGHT);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header().expect("a picture can be saved");
        let pixels = self.pixels().concat();
        writer.write_image_data(&pixels).expect("a picture can be saved");
    }

    /// Looks at the screen again and again, because nothing tells when pixels change.
    async fn until<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let looking = async {
            loop {
                match look() {
                    Some(seen) => return seen,
                    None => sleep(Duration::from_millis(50)).await,
                }
            }
        };
        match tokio::time::timeout(TIMEOUT, looking).await {
            Ok(seen) => seen,
            Err(_) => {
                self.save("waited-in-vain");
                panic!("waited in vain for {what}; see target/screenshots/waited-in-vain.png")
            }
        }
    }

    fn middle_of(&self, colour: Colour, top: u32) -> Option<(u32, u32)> {
        let pixels = self.pixels();
        let places: Vec<(u32, u32)> = (0..)
            .zip(&pixels)
            .filter(|(_, pixel)| **pixel == colour)
            .map(|(index, _)| (index % WIDTH, index / WIDTH))
            .filter(|(_, y)| *y >= top)
            .collect();
        // A pixel or two of any colour may be anywhere.
        if places.len() < 20 {
            return None;
        }
        let middle = |coordinate: fn(&(u32, u32)) -> u32| {
            let all = places.iter().map(coordinate);
            Some(u32::midpoint(all.clone().min()?, all.max()?))
        };
        Some((middle(|place| place.0)?, middle(|place| place.1)?))
    }

    /// The picture, from the file that the server keeps it in: an X window dump.
    fn pixels(&self) -> Vec<Colour> {
        let dump = std::fs::read(&self.framebuffer).expect("the server keeps the picture");
        let field = |index: usize| {
            let bytes = dump[index * 4..index * 4 + 4].try_into().expect("four bytes");
            u32::from_be_bytes(bytes) as usize
        };
        let (header, colours) = (field(0), field(19));
        let start = header + colours * 12;
        let size = (WIDTH * HEIGHT * 4) as usize;
        dump[start..start + size].chunks(4).map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect()
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The process may have ended already.
        drop(self.server.kill());
        drop(self.server.wait());
    }
}
