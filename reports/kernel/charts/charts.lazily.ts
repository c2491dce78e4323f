/** Makes something when it is first needed, such as a formatter, which is slow to make. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
