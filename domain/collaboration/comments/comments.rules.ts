/** The greatest depth of nested replies. */
export const MAX_DEPTH = 10;
/** The greatest number of comments in a thread, including the first one. */
export const MAX_THREAD = 500;
/** The greatest number of users that a comment may mention. */
export const MAX_MENTIONS = 50;

const MENTION = /@\[[^\]\r\n]{1,200}\]\(user:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\)/gi;

/** The ids of the users whom a comment mentions as `@[Name](user:<id>)`, each once, in the order of the text. */
export function mentionedIds(content: string): string[] {
  const ids = new Set<string>();
  for (const [, id] of content.matchAll(MENTION)) ids.add(id!.toLowerCase());
  return [...ids];
}

/** The beginning of a text, for events. */
export function excerpt(text: string, length = 100): string {
  return text.length <= length ? text : text.slice(0, length).toWellFormed();
}
