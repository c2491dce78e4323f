/**
 * The path of an icon that the pages do not bundle: icons lie in a file for each beginning of their names, so that an icon
 * costs little. Apart from `Icon.tsx`, since the list of files is long. Undefined if there is no such icon.
 */
export async function readIcon(name: string): Promise<string | undefined> {
  if (!/^[a-z0-9]\w/.test(name)) return undefined;
  const { default: paths }: { default: Record<string, string> } = await import(
    `../generated/icons/${name.slice(0, 2)}.json`
  );
  return paths[name];
}
