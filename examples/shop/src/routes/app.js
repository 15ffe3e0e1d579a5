// The page's buttons: post, then show what the shop says now.
for (const button of document.querySelectorAll("button[data-post]")) {
  button.addEventListener("click", async () => {
    await fetch(button.dataset.post, { method: "POST", credentials: "same-origin" });
    location.reload();
  });
}
