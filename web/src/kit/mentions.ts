/** A person named in a text. */
export interface Mentioned {
  id: string;
  display_name: string;
}

const markup = /@\[([^\]\n]+)\]\(user:([0-9a-f-]+)\)/g;

/** The text that people write, `@Ada Owner`, as the service stores it. */
export function toMarkup(text: string, people: readonly Mentioned[]): string {
  // longer names first: one may begin with another
  const sorted = [...people].sort((a, b) => b.display_name.length - a.display_name.length);
  return sorted.reduce(
    (result, { id, display_name }) =>
      result.replaceAll(`@${display_name}`, `@[${display_name.replaceAll(']', '')}](user:${id})`),
    text,
  );
}

/** The stored text as people write it, with the people named in it. */
export function fromMarkup(content: string): { text: string; people: Mentioned[] } {
  const people = [...content.matchAll(markup)].map(([, display_name, id]) => ({
    id: id!,
    display_name: display_name!,
  }));
  return { text: content.replaceAll(markup, '@$1'), people };
}
