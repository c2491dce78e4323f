import { RemoteError, withFallback } from '../../remote.ts';
import type { Connector, RemoteRelation } from '../connector.ts';
import { readListsSequentially } from '../responses.ts';
import type { Reading } from './reading.ts';
import {
  type LinkType,
  linkTypeOf,
  referenceOf,
  remoteId,
  splitId,
  standardLinkTypes,
  standardTarget,
  UNKNOWN_TIME,
} from './records.ts';
import type { ItopObject } from './transport.ts';

/** Reads links, one type after the other. */
export async function readRelations(
  reading: Reading,
  { types, since, limit, cursor }: Parameters<Connector['readRelations']>[0],
): ReturnType<Connector['readRelations']> {
  const wanted = types.length > 0 ? types : standardLinkTypes.map(({ id }) => id);
  return await readListsSequentially(wanted, cursor, async (id, within) => {
    const type = linkTypeOf(id);
    if (!type) throw unknownTypeError(id);
    const request = { class: type.class, fields: '*', limit, cursor: within };
    const read =
      since === null
        ? reading.readClass(request)
        : reading.readChanged({ ...request, since, classes: [type.class] });
    // not every instance has every standard type
    const page = await withFallback(read, types.length === 0 ? ['not_found'] : [], null);
    const relations = (page?.objects ?? []).flatMap((link): RemoteRelation[] => {
      const ends = endsOf(type, link);
      const linkId = remoteId(link.class, link.key);
      return ends
        ? [{ id: linkId, type: id, ...ends, updatedAt: page!.times.get(linkId) ?? UNKNOWN_TIME }]
        : [];
    });
    return { relations, next: page?.next ?? null, hasHiddenRows: false };
  });
}

export const unknownTypeError = (id: string) =>
  new RemoteError(
    'refused',
    `relation ${id}`,
    'There is no such relation type; its id is <link class>:<attribute>:<attribute>',
  );

/** The records at both ends; null if one end is empty. */
function endsOf(type: LinkType, { fields }: ItopObject): { from: string; to: string } | null {
  const ends = [type.from, type.to].map(({ attribute, class: className }) => ({
    attribute,
    id: referenceOf(
      String(fields[attribute] ?? ''),
      fields[`${attribute}_finalclass_recall`],
      className ?? standardTarget(type.class, attribute),
    ),
  }));
  const unknown = ends.find(({ id }) => id !== '' && !splitId(id));
  if (unknown) {
    const { attribute } = unknown;
    const what = `The class that ${attribute} refers to is unknown; name it in the relation type, as ${attribute}>Class`;
    throw new RemoteError('refused', `class ${type.class}`, what);
  }
  const [from, to] = ends.map(({ id }) => id);
  return from && to ? { from, to } : null;
}
