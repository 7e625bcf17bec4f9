// Trades a token for the cookie that keeps this browser signed in, then goes where the visitor wanted to.
const form = document.getElementById("sign-in");
const trouble = document.getElementById("trouble");

function destination() {
  const wanted = new URLSearchParams(location.search).get("next") ?? "/";
  const url = new URL(wanted, location.origin);
  return url.origin === location.origin ? url.href : "/";
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  trouble.textContent = "";
  const token = new FormData(form).get("token").trim();
  try {
    const answer = await fetch("/api/v1/session", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (answer.ok) {
      location.assign(destination());
    } else {
      trouble.textContent = (await answer.json()).detail;
    }
  } catch {
    trouble.textContent = "The server does not answer.";
  }
});
