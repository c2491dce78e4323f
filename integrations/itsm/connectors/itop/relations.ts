import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRelation } from '../connector.ts';
import { remoteId, splitId } from './keys.ts';
import type { Reading } from './reading.ts';
import { longAgo, referenceOf } from './records.ts';
import { type LinkType, linkTypeOf, standardLinkTypes } from './relations.types.ts';
import type { Shown } from './transport.ts';

/** Where a reading of several kinds goes on. */
interface Cursor {
  /** Which of the kinds. */
  at: number;
  /** Where in it. */
  cursor: string | null;
}

interface RelationRequest {
  types: string[];
  since: string | null;
  limit: number;
  cursor: string | null;
}

export type RelationPage = { relations: RemoteRelation[]; next: string | null; withheld: boolean };

/** Reads links, one kind after the other. */
export async function readRelations(
  reading: Reading,
  { types, since, limit, cursor }: RelationRequest,
): Promise<Result<RelationPage>> {
  const wanted = types.length > 0 ? types : standardLinkTypes.map(({ id }) => id);
  const { at, cursor: within } = cursor === null ? { at: 0, cursor: null } : (JSON.parse(cursor) as Cursor);
  const id = wanted[at]!;
  const type = linkTypeOf(id);
  if (!type) return unknownType(id);
  const request = { class: type.class, fields: '*', limit, cursor: within };
  const page = await (since === null
    ? reading.readClass(request)
    : reading.readChanged({ ...request, since, classes: [type.class] }));
  const next = (cursor: string | null): string | null => {
    const place: Cursor = cursor === null ? { at: at + 1, cursor: null } : { at, cursor };
    return place.at < wanted.length ? JSON.stringify(place) : null;
  };
  if (!page.ok) {
    // not every instance has every standard kind
    const passable = types.length === 0 && page.failure.code === 'not_found';
    return passable ? done({ relations: [], next: next(null), withheld: false }) : page;
  }
  const { objects, moments } = page.value;
  const relations: RemoteRelation[] = [];
  for (const link of objects) {
    const ends = endsOf(type, link);
    if (!ends.ok) return ends;
    const updatedAt = moments.get(remoteId(link.class, link.key)) ?? longAgo;
    relations.push({ id: remoteId(link.class, link.key), type: id, ...ends.value, updatedAt });
  }
  return done({ relations, next: next(page.value.next), withheld: false });
}

export const unknownType = (id: string) =>
  failed(
    'refused',
    `relation ${id}`,
    'The kind of relation is none: it names a class of links and its two ends',
  );

function endsOf(type: LinkType, { fields }: Shown): Result<{ from: string; to: string }> {
  const end = ({ attribute, class: className }: LinkType['from']): string =>
    referenceOf(
      attribute,
      String(fields[attribute] ?? ''),
      fields[`${attribute}_finalclass_recall`],
      className,
    );
  const [from, to] = [end(type.from), end(type.to)];
  for (const [attribute, id] of [
    [type.from.attribute, from],
    [type.to.attribute, to],
  ] as const) {
    if (id !== '' && splitId(id)) continue;
    const what = `It is not told which class ${attribute} leads to; name it in the kind, as ${attribute}>Class`;
    return failed('refused', `class ${type.class}`, what);
  }
  return done({ from, to });
}
