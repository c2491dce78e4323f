import { query, queryRows } from '../../../platform/database.ts';
import { deleteRowsOfCards } from '../../inventory/cards/cards.attached.ts';
import type { Work } from '../../kernel/context.ts';
import { rowEvents } from '../../kernel/events/row-changes.ts';
import { CLEANUP_BATCH, type Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { findRows, updateRow } from '../../kernel/resources/rows.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { rights } from './bpm.access.ts';
import { assessmentEvent, diagramEvent, flowEvent, linkEvent } from './bpm.events.ts';
import {
  type AssessmentRow,
  BPM_TOPIC,
  ContentElement,
  type DiagramRow,
  ElementLink,
  type FlowRow,
  FlowVersion,
  type LinkRow,
  linkKinds,
  PROCESS,
  ProcessAssessment,
  ProcessContent,
  ProcessDiagram,
} from './bpm.model.ts';
import { deleteUnusedContents } from './bpmn.read.ts';
import { followApprovers } from './flow.approvers.ts';

/** The condition that a diagram or a flow version of an exported process uses a content. */
const isUsed = (uses: string, active: (card: string) => string): string =>
  ['process_diagrams', 'process_flow_versions']
    .map((table) => `exists (select from ${table} u where ${uses} and ${active('u.process_id')})`)
    .join(' or ');

const contentUndo = { refused: 'Contents are restored with the diagrams and flows that use them.' };
const approval = needs(rights.approve);
const topics = [BPM_TOPIC];
const ofProcess = { card: 'process_id', transfer: {} } as const;
const process = { column: 'process_id' };

/** Archives the published versions of merged processes whose diagram is not the current one after the merge. */
async function archiveOtherFlows({ sql, emit }: Work, cardIds: readonly string[]): Promise<number> {
  const published = await findRows(sql, FlowVersion, (found) =>
    found
      .whereIn('process_id', [...cardIds])
      .where({ status: 'published' })
      .orderBy('id')
      .forUpdate(),
  );
  if (published.length === 0) return 0;
  const current = await query(sql).value<string | undefined>`select process_id from process_diagrams
    where process_id = any(${cardIds}::uuid[])
    order by (lineage_id = ${cardIds[0]}::uuid) desc, version desc, lineage_id limit 1`;
  const archived_at = new Date().toISOString();
  for (const before of published) {
    if (before.process_id === current) continue;
    const after = await updateRow(sql, FlowVersion, { id: before.id }, { status: 'archived', archived_at });
    emit(flowEvent(before, after, 'archived'));
  }
  return 0;
}

const resources: readonly Resource[] = [
  {
    model: ProcessContent,
    name: 'process content',
    events: {},
    undo: contentUndo,
    transfer: {
      noPeople: true,
      omitted: ['used_at'],
      where: (active) => isUsed('t.id in (u.content_id, u.thumbnail_id)', active),
    },
  },
  {
    model: ContentElement,
    name: 'process element',
    events: {},
    undo: contentUndo,
    transfer: {
      noPeople: true,
      matches: [['%.content_id', '%.bpmn_element_id']],
      where: (active) => isUsed('t.content_id = u.content_id', active),
    },
  },
  {
    ...ofProcess,
    model: ProcessDiagram,
    name: 'process diagram',
    events: { created: ['process_diagram.saved'], deleted: ['process_diagram.deleted'] },
    topics,
    undo: { right: needs(rights.edit) },
    cardReferences: [{ ...process, beforeMerge: archiveOtherFlows }],
  },
  {
    ...ofProcess,
    model: FlowVersion,
    name: 'process flow',
    events: {
      created: ['process_flow.created'],
      updated: [
        'process_flow.updated',
        'process_flow.submitted',
        'process_flow.approved',
        'process_flow.rejected',
        'process_flow.archived',
      ],
      deleted: ['process_flow.deleted'],
    },
    undo: {
      right: needs(rights.drafts),
      rights: {
        'process_flow.approved': approval,
        'process_flow.rejected': approval,
        'process_flow.archived': approval,
      },
      // the approvers of a version that is pending again may have changed
      async settle(work, _ctx, { card_id }) {
        await followApprovers(work, card_id === null ? [] : [card_id]);
        return null;
      },
    },
    cardReferences: [
      {
        ...process,
        follows: [
          { column: 'based_on_id', table: 'process_flow_versions', only: `t.status in ('draft', 'pending')` },
        ],
        fixed: { by: 'process_flow.approved', only: `t.status in ('published', 'archived')` },
      },
    ],
  },
  {
    ...ofProcess,
    model: ElementLink,
    name: 'process element link',
    events: rowEvents('process_element_link'),
    topics,
    undo: { right: needs(rights.edit) },
    cardReferences: [
      { ...process, follows: [{ column: 'flow_version_id', table: 'process_flow_versions' }] },
      ...linkKinds.map(({ column }) => ({ column })),
    ],
  },
  {
    ...ofProcess,
    model: ProcessAssessment,
    name: 'process assessment',
    events: rowEvents('process_assessment'),
    undo: { right: needs('bpm.assessments') },
    cardReferences: [process],
  },
];

/**
 * Deletes the rows of deleted processes, with an event for each. Links come before the flow versions that plan them,
 * because undo runs backwards and has to restore the versions first.
 */
async function deleteOfProcesses(work: Work, cardIds: readonly string[]): Promise<void> {
  const deleted = <T>(table: string) => deleteRowsOfCards<T>(work, table, cardIds, 'process_id');
  const links = await deleted<LinkRow>('process_element_links');
  for (const row of links) work.emit(linkEvent(row, null));
  for (const row of await deleted<FlowRow>('process_flow_versions')) work.emit(flowEvent(row, null));
  const diagrams = await deleted<DiagramRow>('process_diagrams');
  for (const row of diagrams) work.emit(diagramEvent(row, true));
  for (const row of await deleted<AssessmentRow>('process_assessments'))
    work.emit(assessmentEvent(row, null));
  if (links.length + diagrams.length > 0) work.raise(BPM_TOPIC);
}

/** Removes deleted cards from the links of elements; the rest of a link stays. */
async function unlinkCards(work: Work, cardIds: readonly string[]): Promise<void> {
  const columns = linkKinds.map(({ column }) => column);
  const cleared = (column: string) =>
    `${column} = case when l.${column} = any(?::uuid[]) then null else l.${column} end`;
  const rows = await queryRows<{ before: LinkRow; after: LinkRow }>(
    work.sql,
    `with found as (
       select o.id, to_jsonb(o) as row from process_element_links o
       where ${columns.map((column) => `o.${column} = any(?::uuid[])`).join(' or ')} order by o.id for update
     ), changed as (
       update process_element_links l set ${columns.map(cleared).join(', ')}, updated_at = clock_timestamp()
       from found where found.id = l.id returning l.id, to_jsonb(l) as row
     )
     select found.row as before, changed.row as after from changed join found using (id) order by id`,
    [...columns, ...columns].map(() => cardIds),
  );
  for (const { before, after } of rows) work.emit(linkEvent(before, after));
  if (rows.length > 0) work.raise(BPM_TOPIC);
}

/** Process diagrams, their flow versions, assessments and links of elements. */
export const bpmExtension: Extension = {
  resources,
  cleanups: {
    process_contents: (sql, { batches_days }) => deleteUnusedContents(sql, batches_days, CLEANUP_BATCH),
  },
  async deleteWithCards(work, cards) {
    const ids = cards.map(({ id }) => id);
    await deleteOfProcesses(work, ids);
    await unlinkCards(work, ids);
  },
  async userRightsChanged(work) {
    await followApprovers(work);
  },
  async stakeholdersChanged(work, cardType, cardIds) {
    if (cardType === PROCESS) await followApprovers(work, cardIds);
  },
};
