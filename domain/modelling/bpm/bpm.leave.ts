import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import type { Work } from '../../kernel/context.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { assessmentEvent, diagramEvent, flowEvent, linkEvent } from './bpm.events.ts';
import { BPM_TOPIC, type DiagramRow, type FlowRow, type LinkRow, linkKinds } from './bpm.types.ts';

/**
 * Deletes what was drawn, planned and found of processes that are deleted, with an event for each row. Links come before
 * the flow versions that plan them, so that the events, undone backwards, find these there.
 */
export async function deleteOfProcesses(work: Work, cardIds: readonly string[]): Promise<void> {
  const links = await deleteRowsOfCards<LinkRow>(work, 'process_element_links', cardIds, 'process_id');
  for (const row of links) work.emit(linkEvent(row, null));
  for (const row of await deleteRowsOfCards<FlowRow>(work, 'process_flow_versions', cardIds, 'process_id')) {
    work.emit(flowEvent(row, null));
  }
  const diagrams = await deleteRowsOfCards<DiagramRow>(work, 'process_diagrams', cardIds, 'process_id');
  for (const row of diagrams) work.emit(diagramEvent(row, true));
  for (const row of await deleteRowsOfCards<StoredRow>(work, 'process_assessments', cardIds, 'process_id')) {
    work.emit(assessmentEvent(row, null));
  }
  if (links.length + diagrams.length > 0) work.raise(BPM_TOPIC);
}

/** Takes cards that are deleted out of the links of elements, in force or planned; the rest of a link stays. */
export async function unlinkCards(work: Work, cardIds: readonly string[]): Promise<void> {
  const columns = linkKinds.map(({ column }) => column);
  const kept = (column: string) =>
    `${column} = case when l.${column} = any(?::uuid[]) then null else l.${column} end`;
  const { rows } = await work.sql.raw(
    `with found as (
       select o.id, to_jsonb(o) as row from process_element_links o
       where ${columns.map((column) => `o.${column} = any(?::uuid[])`).join(' or ')} order by o.id for update
     ), changed as (
       update process_element_links l set ${columns.map(kept).join(', ')}, updated_at = clock_timestamp()
       from found where found.id = l.id returning l.id, to_jsonb(l) as row
     )
     select found.row as before, changed.row as after from changed join found using (id) order by id`,
    [...columns, ...columns].map(() => cardIds) as never,
  );
  for (const { before, after } of rows as { before: LinkRow; after: LinkRow }[])
    work.emit(linkEvent(before, after));
  if (rows.length > 0) work.raise(BPM_TOPIC);
}
