/** The page can't do its work at all. */
export function Trouble({ reason }: { reason: string }) {
  return (
    <div className="empty trouble" role="alert">
      <img src="/alicia.svg" alt="" width="52" height="52" />
      <h1>Alicia can’t start here</h1>
      <p className="soft">
        This browser does not let the page keep anything, which Alicia needs so that no word is lost. A private window, or a
        setting about site data, is the usual cause.
      </p>
      <p className="small soft">{reason}</p>
      <button type="button" className="primary" onClick={() => location.reload()}>
        Try again
      </button>
    </div>
  );
}
