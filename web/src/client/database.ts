const VERSION = 2;

/** What this browser keeps: the logs it has seen, what it has not sent yet, and the conversations it knows. */
export function openDatabase(name: string): Promise<IDBDatabase> {
  const request = indexedDB.open(name, VERSION);
  request.onupgradeneeded = ({ oldVersion }) => {
    const database = request.result;
    database.createObjectStore("bases", { keyPath: "conversationId" });
    if (oldVersion > 0) return;
    database.createObjectStore("stanzas", { keyPath: ["conversationId", "number"] });
    database
      .createObjectStore("outbox", { keyPath: "key", autoIncrement: true })
      .createIndex("conversationId", "conversationId");
    database.createObjectStore("conversations", { keyPath: "id" });
  };
  return result(request).then((database) => {
    // A newer version of the page in another tab must not wait for this one.
    database.onversionchange = () => database.close();
    return database;
  });
}

/** A request's outcome as a promise. */
export function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("The browser's storage refused."));
  });
}

/** Resolves when everything in a transaction is stored. */
export function done(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = transaction.onerror = () =>
      reject(transaction.error ?? new Error("The browser's storage gave up."));
  });
}
