//! What only `chrome.downloads` knows: where a downloaded file is.

wire_object! {
    /// Parameters of `findDownload`: the newest download of `url` that is not excluded.
    pub struct DownloadQuery {
        /// Where it came from, before or after redirects.
        required "url" url: String,
        /// Downloads that are known already.
        default "exclude" exclude: Vec<i64>,
        /// Whether to answer before the download has ended.
        default "atOnce" at_once: bool,
        /// How many milliseconds ago it may have begun, at most; whenever when absent.
        optional "maxAge" max_age: Option<u64>,
    }
}

wire_object! {
    /// The answer to `findDownload`, without fields if there is none.
    pub struct FoundDownload {
        /// Chrome's id of the download.
        optional "id" id: Option<i64>,
        /// Where the file is.
        optional "path" path: Option<String>,
        /// `complete`, `interrupted`, or `in_progress` if it is still not over.
        optional "state" state: Option<String>,
        /// Why it was interrupted.
        optional "error" error: Option<String>,
    }
}

wire_object! {
    /// Parameters of `cancelDownload`.
    pub struct DownloadId {
        /// Chrome's id of the download; one that is over or unknown is no error.
        required "id" id: i64,
        /// Whether to take away its file and its place in the user's list, too.
        default "remove" remove: bool,
    }
}
