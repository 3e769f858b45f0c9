//! Requests that only `chrome.downloads` can answer, such as for the path of a downloaded file.

wire_object! {
    /// Parameters of `findDownload`: the newest download of `url` that is not excluded.
    pub struct DownloadQuery {
        /// The address of the download, before or after redirects.
        required "url" url: String,
        /// Downloads that are known already.
        default "exclude" exclude: Vec<i64>,
        /// True to answer before the download has ended.
        default "atOnce" at_once: bool,
        /// The largest age of the download in milliseconds; any age when absent.
        optional "maxAge" max_age: Option<u64>,
    }
}

wire_object! {
    /// The answer to `findDownload`, without fields if there is none.
    pub struct FoundDownload {
        /// Chrome's id of the download.
        optional "id" id: Option<i64>,
        /// The path of the file.
        optional "path" path: Option<String>,
        /// `complete`, `interrupted`, or `in_progress` if it is still not over.
        optional "state" state: Option<String>,
        /// The reason why the download was interrupted.
        optional "error" error: Option<String>,
    }
}

wire_object! {
    /// Parameters of `cancelDownload`.
    pub struct DownloadId {
        /// Chrome's id of the download; one that is over or unknown is no error.
        required "id" id: i64,
        /// True to remove the file and its entry in the user's list, too.
        default "remove" remove: bool,
    }
}
