import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRelation } from '../connector.ts';
import { remoteId, splitId } from './keys.ts';
import type { Reading } from './reading.ts';
import { longAgo, referenceOf, standardTarget } from './records.ts';
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
    if (ends.value === null) continue;
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

/** The records at both ends; null where one of them leads nowhere. */
function endsOf(type: LinkType, { fields }: Shown): Result<{ from: string; to: string } | null> {
  const ends = [type.from, type.to].map(({ attribute, class: className }) => ({
    attribute,
    id: referenceOf(
      String(fields[attribute] ?? ''),
      fields[`${attribute}_finalclass_recall`],
      className ?? standardTarget(type.class, attribute),
    ),
  }));
  const untold = ends.find(({ id }) => id !== '' && !splitId(id));
  if (untold) {
    const { attribute } = untold;
    const what = `It is not told which class ${attribute} leads to; name it in the kind, as ${attribute}>Class`;
    return failed('refused', `class ${type.class}`, what);
  }
  const [from, to] = ends.map(({ id }) => id);
  return done(from && to ? { from, to } : null);
}
