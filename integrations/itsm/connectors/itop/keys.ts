/** An object's key is unique within its root class only: with its own class, which never changes, in the whole instance. */
export const remoteId = (className: string, key: string | number): string => `${className}::${key}`;

const form = /^([A-Za-z_]\w*)::([1-9]\d*)$/;

/** @returns undefined for what is no id of ours. */
export function splitId(id: string): { className: string; key: number } | undefined {
  const [, className, key] = form.exec(id) ?? [];
  return className === undefined ? undefined : { className, key: Number(key) };
}
