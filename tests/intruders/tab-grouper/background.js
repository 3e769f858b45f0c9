chrome.tabs.onUpdated.addListener(async (id, { groupId }) => {
  if (groupId === undefined || groupId === -1) return;
  for (const tab of await chrome.tabs.query({})) {
    if (tab.groupId !== -1) continue;
    // Selected and in front, as a tab that is dragged is.
    await chrome.tabs.update(tab.id, { active: true });
    await chrome.tabs.group({ tabIds: [tab.id], groupId });
  }
});
