/** How many replies may stand below one another. */
export const MAX_DEPTH = 10;
/** How many comments one thread may hold, the first one included. */
export const MAX_THREAD = 500;
/** How many users one comment may name. */
export const MAX_MENTIONS = 50;

const MENTION = /@\[[^\]\r\n]{1,200}\]\(user:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)/gi;

/** The ids of the users whom a comment names as `@[Name](user:<id>)`, each once, in the order of the text. */
export function mentionedIds(content: string): string[] {
  const ids = new Set<string>();
  for (const [, id] of content.matchAll(MENTION)) ids.add(id!.toLowerCase());
  return [...ids];
}

/** The beginning of a text, for events that show what it is about. */
export function excerpt(text: string, length = 100): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed();
}
