//! The table of methods. A method that is not in it passes through, if no pattern fits it and it sets
//! nothing that is in the table of overrides (`shared_protocol::overrides`).

use super::BreakpointCommand as Breakpoints;
use super::Confined::{Guard, Names, Refuse as RefuseConfined, RefuseIf};
use super::InterceptionCommand as Interception;
use super::OnBrowser as Browser;
use super::OnRefusedPage::{Close, Fail, Navigate, Throw, Wait};
use super::OnTarget as Target;
use super::ProfileCommand as Profile;
use super::ScreencastCommand as Screencast;
use super::StorageCommand as Storage;
use super::WindowCommand as Window;
use super::{Commands, Pattern, Row};
use crate::cdp::logged::Logged::{NothingOfPassword, NothingOfTyped, Without};

const NO_CONTEXTS: &str = "Browser contexts are not supported: this endpoint drives the user's \
                           existing browser profile; use the default context.";
const NO_CRASHES: &str = "Not allowed: this is the user's own browser";
const NO_DEVTOOLS: &str = "Not allowed: DevTools are the user's to open";
const NO_IGNORED_CERTIFICATES: &str =
    "Not allowed: certificates of the user's own browser are checked for the user";
const NOT_SUPPORTED: &str = "Not supported";

/// The user is to be asked.
const USER_ANSWERS: &str = "only the user may answer what Chrome asks here";
/// It would run in whatever document comes next.
const NO_SCRIPT_ON_LOAD: &str = "use Page.addScriptToEvaluateOnNewDocument here";
const NO_SCRIPT_ON_RELOAD: &str = "scriptToEvaluateOnLoad is not available here: use \
                                   Page.addScriptToEvaluateOnNewDocument";
/// A command inside a command.
const FLAT_SESSIONS: &str = "use flat sessions here";

const ROW: Row = Row::EMPTY;

const fn target(on_target: Target) -> Row {
    ROW.on_target(on_target)
}

const fn browser(on_browser: Browser) -> Row {
    ROW.on_browser(on_browser)
}

const fn interception(command: Interception) -> Row {
    target(Target::Interception(command))
}

/// The same on both kinds of sessions.
const fn profile(command: Profile) -> Row {
    target(Target::Profile(command)).on_browser(Browser::Profile(command))
}

/// The same on both kinds of sessions.
const fn storage(command: Storage) -> Row {
    target(Target::Storage(command)).on_browser(Browser::Storage(command))
}

/// Sorted by name.
pub(super) static METHODS: [(&str, Row); 112] = [
    ("Autofill.trigger", ROW.logged(Without(&["card", "address"]))),
    ("Browser.cancelDownload", browser(Browser::CancelDownload)),
    ("Browser.close", browser(Browser::Close)),
    ("Browser.crash", browser(Browser::Refuse(NO_CRASHES))),
    ("Browser.crashGpuProcess", browser(Browser::Refuse(NO_CRASHES))),
    ("Browser.getVersion", browser(Browser::Version)),
    ("Browser.getWindowBounds", browser(Browser::Window(Window::GetBounds))),
    ("Browser.getWindowForTarget", browser(Browser::Window(Window::Find))),
    ("Browser.grantPermissions", browser(Browser::GrantPermissions)),
    ("Browser.resetPermissions", browser(Browser::ResetPermissions)),
    ("Browser.setContentsSize", browser(Browser::Window(Window::SetContentsSize))),
    ("Browser.setDownloadBehavior", browser(Browser::DownloadBehavior).confined(Names)),
    ("Browser.setPermission", browser(Browser::GrantPermissions)),
    ("Browser.setWindowBounds", browser(Browser::Window(Window::SetBounds))),
    ("DOM.getDocument", target(Target::GetDocument)),
    ("DOM.getFlattenedDocument", target(Target::GetDocument)),
    ("DOM.setAttributeValue", ROW.logged(Without(&["value"]))),
    ("DOM.setAttributesAsText", ROW.logged(Without(&["text"]))),
    ("DOM.setFileInputFiles", target(Target::FileInput).confined(Names)),
    ("DOM.setNodeValue", ROW.logged(Without(&["value"]))),
    ("DOM.setOuterHTML", ROW.logged(Without(&["outerHTML"]))),
    ("Debugger.continueToLocation", target(Target::Breakpoint(Breakpoints::Pause))),
    ("Debugger.pause", target(Target::Breakpoint(Breakpoints::Pause))),
    ("Debugger.removeBreakpoint", target(Target::Breakpoint(Breakpoints::Remove))),
    ("Debugger.resume", target(Target::Breakpoint(Breakpoints::Resume))),
    ("Debugger.setBreakpoint", target(Target::Breakpoint(Breakpoints::Add))),
    ("Debugger.setBreakpointByUrl", target(Target::Breakpoint(Breakpoints::Add))),
    ("Debugger.setBreakpointOnFunctionCall", target(Target::Breakpoint(Breakpoints::Add))),
    ("Debugger.setInstrumentationBreakpoint", target(Target::Breakpoint(Breakpoints::Add))),
    ("Debugger.stepInto", target(Target::Breakpoint(Breakpoints::Pause))),
    ("Debugger.stepOut", target(Target::Breakpoint(Breakpoints::Pause))),
    ("Debugger.stepOver", target(Target::Breakpoint(Breakpoints::Pause))),
    ("Emulation.clearDeviceMetricsOverride", ROW.on_refused_page(Wait)),
    ("Emulation.clearGeolocationOverride", ROW.on_refused_page(Wait)),
    (
        "Fetch.continueRequest",
        interception(Interception::Continue).confined(Names).logged(Without(&["postData"])),
    ),
    ("Fetch.continueResponse", interception(Interception::Continue)),
    ("Fetch.continueWithAuth", interception(Interception::Authenticate).logged(NothingOfPassword)),
    ("Fetch.disable", target(Target::DisableInterception)),
    ("Fetch.enable", target(Target::EnableInterception)),
    ("Fetch.failRequest", interception(Interception::End)),
    ("Fetch.fulfillRequest", interception(Interception::End)),
    ("Input.dispatchDragEvent", ROW.confined(Names)),
    (
        "Input.dispatchKeyEvent",
        ROW.logged(Without(&[
            "text",
            "unmodifiedText",
            "key",
            "code",
            "keyIdentifier",
            "windowsVirtualKeyCode",
            "nativeVirtualKeyCode",
        ])),
    ),
    ("Input.imeSetComposition", ROW.logged(Without(&["text"]))),
    ("Input.insertText", ROW.logged(Without(&["text"]))),
    ("Network.clearBrowserCache", target(Target::Profile(Profile::ClearBrowser))),
    ("Network.clearBrowserCookies", target(Target::Profile(Profile::ClearBrowser))),
    ("Network.continueInterceptedRequest", ROW.confined(Names)),
    ("Network.deleteCookies", target(Target::Profile(Profile::DeleteCookies))),
    ("Network.getAllCookies", target(Target::Profile(Profile::GetCookies))),
    ("Network.getCookies", target(Target::Profile(Profile::GetCookiesOfSites))),
    ("Network.getRequestPostData", ROW.logged(NothingOfTyped)),
    ("Network.loadNetworkResource", ROW.confined(Names)),
    ("Network.setCacheDisabled", ROW.quick()),
    ("Network.setCookie", target(Target::Profile(Profile::SetCookies)).on_refused_page(Fail)),
    ("Network.setCookies", target(Target::Profile(Profile::SetCookies)).on_refused_page(Fail)),
    (
        "Page.addScriptToEvaluateOnLoad",
        target(Target::AddScript)
            .quick()
            .on_refused_page(Wait)
            .confined(RefuseConfined(NO_SCRIPT_ON_LOAD)),
    ),
    (
        "Page.addScriptToEvaluateOnNewDocument",
        target(Target::AddScript).quick().on_refused_page(Wait).confined(Guard),
    ),
    ("Page.bringToFront", target(Target::BringToFront)),
    ("Page.close", ROW.runs_page().on_refused_page(Close)),
    ("Page.createIsolatedWorld", ROW.quick()),
    ("Page.getFrameTree", ROW.quick()),
    ("Page.handleJavaScriptDialog", target(Target::Dialog).logged(Without(&["promptText"]))),
    (
        "Page.navigate",
        target(Target::Navigate).runs_page().on_refused_page(Navigate).confined(Names),
    ),
    ("Page.navigateToHistoryEntry", ROW.runs_page()),
    (
        "Page.reload",
        ROW.runs_page().confined(RefuseIf("scriptToEvaluateOnLoad", NO_SCRIPT_ON_RELOAD)),
    ),
    ("Page.removeScriptToEvaluateOnLoad", target(Target::RemoveScript).on_refused_page(Wait)),
    (
        "Page.removeScriptToEvaluateOnNewDocument",
        target(Target::RemoveScript).on_refused_page(Wait),
    ),
    ("Page.screencastFrameAck", target(Target::Screencast(Screencast::Acknowledge))),
    ("Page.setDocumentContent", ROW.on_refused_page(Fail)),
    (
        "Page.setDownloadBehavior",
        target(Target::Browser).on_browser(Browser::DownloadBehavior).confined(Names),
    ),
    ("Page.setFontFamilies", target(Target::Fonts)),
    ("Page.setLifecycleEventsEnabled", target(Target::Lifecycle).quick()),
    ("Page.setRPHRegistrationMode", ROW.confined(RefuseConfined(USER_ANSWERS))),
    ("Page.setSPCTransactionMode", ROW.confined(RefuseConfined(USER_ANSWERS))),
    ("Page.startScreencast", target(Target::Screencast(Screencast::Start))),
    ("Page.stopScreencast", target(Target::Screencast(Screencast::Stop))),
    ("Runtime.addBinding", target(Target::AddBinding).on_refused_page(Wait)),
    (
        "Runtime.callFunctionOn",
        ROW.runs_page().on_refused_page(Throw).logged(Without(&["arguments"])),
    ),
    ("Runtime.evaluate", ROW.runs_page().on_refused_page(Throw)),
    ("Runtime.removeBinding", target(Target::RemoveBinding).on_refused_page(Wait)),
    (
        "Runtime.runIfWaitingForDebugger",
        target(Target::RunIfWaiting).on_browser(Browser::Nothing).on_refused_page(Wait),
    ),
    // It would hide failures from the user; clients that send it live well without.
    (
        "Security.setIgnoreCertificateErrors",
        target(Target::Ignore).on_browser(Browser::Refuse(NO_IGNORED_CERTIFICATES)),
    ),
    ("Storage.clearCookies", profile(Profile::ClearCookies)),
    ("Storage.clearDataForOrigin", profile(Profile::ClearDataOfOrigin)),
    ("Storage.clearDataForStorageKey", profile(Profile::ClearDataOfStorageKey)),
    ("Storage.getCookies", profile(Profile::GetCookies)),
    ("Storage.getStorageKey", storage(Storage::Harmless)),
    ("Storage.getStorageKeyForFrame", storage(Storage::Harmless)),
    ("Storage.setCookies", profile(Profile::SetCookies)),
    ("Target.activateTarget", browser(Browser::ActivateTarget)),
    ("Target.attachToBrowserTarget", browser(Browser::AttachToBrowser)),
    ("Target.attachToTarget", browser(Browser::AttachToTarget)),
    ("Target.autoAttachRelated", browser(Browser::Refuse(NOT_SUPPORTED))),
    ("Target.closeTarget", browser(Browser::CloseTarget).on_refused_page(Close)),
    ("Target.createBrowserContext", browser(Browser::Refuse(NO_CONTEXTS))),
    ("Target.createTarget", browser(Browser::CreateTarget).confined(Names)),
    ("Target.detachFromTarget", browser(Browser::DetachFromTarget)),
    ("Target.disposeBrowserContext", browser(Browser::DisposeContext)),
    ("Target.exposeDevToolsProtocol", browser(Browser::Refuse(NOT_SUPPORTED))),
    ("Target.getBrowserContexts", browser(Browser::Contexts)),
    ("Target.getDevToolsTarget", browser(Browser::Nothing)),
    ("Target.getTargetInfo", browser(Browser::TargetInfo)),
    ("Target.getTargets", browser(Browser::Targets)),
    ("Target.openDevTools", browser(Browser::Refuse(NO_DEVTOOLS))),
    ("Target.sendMessageToTarget", ROW.confined(RefuseConfined(FLAT_SESSIONS))),
    (
        "Target.setAutoAttach",
        target(Target::AutoAttach).on_browser(Browser::AutoAttach).quick().on_refused_page(Wait),
    ),
    ("Target.setDiscoverTargets", browser(Browser::DiscoverTargets)),
    ("Target.setRemoteLocations", browser(Browser::Nothing)),
    ("Tracing.end", target(Target::EndTrace)),
    ("Tracing.start", target(Target::StartTrace)),
    ("WebAuthn.addCredential", ROW.logged(Without(&["credential"]))),
];

/// A method that fits several takes each column from the first that has it.
pub(super) static PATTERNS: [Pattern; 15] = [
    all_of("Browser", target(Target::Browser)),
    all_of("Target", target(Target::Browser)),
    all_of("Fetch", target(Target::Interception(Interception::Keep))),
    in_every_domain("enable", target(Target::Enable).quick().on_refused_page(Wait)),
    in_every_domain("disable", target(Target::Disable).quick().on_refused_page(Wait)),
    like("DOMDebugger", "set", "Breakpoint", target(Target::DomBreakpoint)),
    like("DOMDebugger", "remove", "Breakpoint", target(Target::DomBreakpoint)),
    like("Storage", "untrack", "", storage(Storage::Harmless)),
    all_of("Storage", storage(Storage::OfSites)),
    all_of("Tracing", browser(Browser::Stream)),
    all_of("IO", browser(Browser::Stream)),
    all_of("Input", ROW.runs_page()),
    like("Emulation", "set", "", ROW.quick().on_refused_page(Wait)),
    like("Network", "set", "", ROW.on_refused_page(Wait)),
    like("Page", "set", "", ROW.on_refused_page(Wait)),
];

const fn all_of(domain: &'static str, row: Row) -> Pattern {
    Pattern { domain: Some(domain), commands: Commands::All, row }
}

const fn in_every_domain(command: &'static str, row: Row) -> Pattern {
    Pattern { domain: None, commands: Commands::Named(command), row }
}

const fn like(domain: &'static str, start: &'static str, end: &'static str, row: Row) -> Pattern {
    Pattern { domain: Some(domain), commands: Commands::Like(start, end), row }
}

#[cfg(test)]
mod tests {
    use super::METHODS;

    #[test]
    fn the_table_is_sorted_and_names_each_method_once() {
        assert!(METHODS.is_sorted_by(|(one, _), (next, _)| one < next));
    }
}
