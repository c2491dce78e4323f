import type { StoredBook } from './book.types.ts';

/**
 * Whether the last complete reading was that of a run which only pushed. Such a run passes over records without a card,
 * and nothing is kept of them.
 */
export const hasPushedLast = ({
  complete_read_at,
  pushed_read_at,
}: Pick<StoredBook, 'complete_read_at' | 'pushed_read_at'>): boolean =>
  pushed_read_at !== null && (complete_read_at === null || complete_read_at < pushed_read_at);

/**
 * Cards have come since the last run that have no record. Where records without a card are passed over, only a reading of
 * all of them tells whether one of them is such a card's.
 */
const newCards = `exists (
  select from events e join cards c on c.id = e.card_id and c.type = m.card_type_key and c.status = 'ACTIVE'
  where e.position > b.local_position and e.card_type = m.card_type_key
    and e.event_type in ('card.created', 'card.restored')
    and not exists (select from itsm_pairs p where p.mapping_id = m.id and p.card_id = c.id))`;

const isFresh = (readAt: string): string =>
  `coalesce(${readAt} >= now() - make_interval(hours => m.complete_every_hours), false)`;

/** An SQL expression of {@link hasPushedLast} over a book `b`. */
const pushedLast =
  "coalesce(b.pushed_read_at > coalesce(b.complete_read_at, timestamptz '-infinity'), false)";

/**
 * An SQL expression over a mapping `m` and its book `b`: whether a run has to read everything. Those that go one of the
 * mapping's two ways go by what others of their direction have read as well.
 * @param direction an SQL expression for the run's.
 */
export const needsComplete = (direction: string): string => `coalesce(case
  when ${direction} = m.sync_direction then b.watermark is null or b.local_position is null
    or not ${isFresh('b.complete_read_at')} or (m.sync_direction = 'push' and ${newCards})
  when ${direction} = 'pull' then b.watermark is null
    or not ${isFresh('greatest(b.complete_read_at, b.pulled_read_at)')}
  when ${pushedLast} then b.pushed_watermark is null or b.local_position is null
    or not ${isFresh('b.pushed_read_at')} or ${newCards}
  else b.watermark is null or b.local_position is null or not ${isFresh('b.complete_read_at')} end, true)`;
