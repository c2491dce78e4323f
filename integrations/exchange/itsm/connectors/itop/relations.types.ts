import type { RemoteRelationType } from '../connector.ts';
import { standardLinks } from './classes.data.ts';

/** A relation type: a class of links, the attributes of its ends, and the classes these refer to as far as known. */
export interface LinkType {
  class: string;
  from: { attribute: string; class?: string };
  to: { attribute: string; class?: string };
}

const idOf = ({ class: className, from, to }: LinkType): string =>
  `${className}:${from.attribute}:${to.attribute}`;

export const standardLinkTypes: RemoteRelationType[] = standardLinks
  .map((link) => ({ id: idOf(link), name: link.class, forward: link.forward, reverse: link.reverse }))
  .sort((a, b) => (a.name < b.name ? -1 : 1));

const form = /^([A-Za-z]\w*):([A-Za-z]\w*)(?:>([A-Za-z]\w*))?:([A-Za-z]\w*)(?:>([A-Za-z]\w*))?$/;

/**
 * Parses the id of a relation type, `<link class>:<attribute>:<attribute>`. Attributes of an instance's own links may be
 * followed by `>` and the class they refer to, which is needed if no other class extends that one.
 */
export function linkTypeOf(id: string): LinkType | undefined {
  const [, className, from, fromClass, to, toClass] = form.exec(id) ?? [];
  if (className === undefined) return undefined;
  const known = standardLinks.find((link) => idOf(link) === id);
  if (known) return known;
  return {
    class: className,
    from: { attribute: from!, ...(fromClass ? { class: fromClass } : {}) },
    to: { attribute: to!, ...(toClass ? { class: toClass } : {}) },
  };
}
