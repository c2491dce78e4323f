import { EstateError } from '../../platform/errors.ts';
import { commentList } from '../collaboration/comments/comments.list.ts';
import { documentList } from '../collaboration/documents/documents.ts';
import { attachmentList } from '../collaboration/files/files.list.ts';
import { cardTodoList } from '../collaboration/todos/todos.commands.ts';
import { cardAdrList } from '../governance/adr/adr.kind.ts';
import { cardFindingList } from '../governance/compliance/findings.list.ts';
import { cardRiskList } from '../governance/risks/risks.list.ts';
import { readQuality, relationGroups } from '../inventory/cards/cards.overview.ts';
import { readCard, readHierarchy, readMyPermissions } from '../inventory/cards/cards.read.ts';
import type { Ctx } from '../kernel/context.ts';
import { readList } from '../kernel/lists/lists.define.ts';
import type { JsonText, ListParams } from '../kernel/lists/lists.types.ts';
import { diagramList } from '../modelling/diagrams/diagrams.list.ts';

/** The parts of a card's overview besides the card itself. */
export const overviewParts = ['hierarchy', 'relations', 'permissions', 'counts', 'quality'] as const;
type OverviewPart = (typeof overviewParts)[number];

/** Children and relations of one type and direction that an overview lists. */
export interface OverviewSizes {
  children: number;
  relations: number;
}

const one: ListParams = { page: 1, page_size: 1, fields: 'id' };

/** The lists of objects of a card that its overview counts. */
const counted: Record<string, (ctx: Ctx, card: string) => Promise<JsonText>> = {
  comments: (ctx, card) => readList(ctx, commentList, one, card),
  todos: (ctx, card) => readList(ctx, cardTodoList, one, card),
  open_todos: (ctx, card) => readList(ctx, cardTodoList, { ...one, status: 'open' }, card),
  documents: (ctx, card) => readList(ctx, documentList, one, card),
  files: (ctx, card) => readList(ctx, attachmentList, one, card),
  diagrams: (ctx, card_id) => readList(ctx, diagramList, { ...one, card_id, mine: false, favorites: false }),
  decisions: (ctx, card) => readList(ctx, cardAdrList, one, card),
  risks: (ctx, card) => readList(ctx, cardRiskList, one, card),
  compliance_findings: (ctx, card) =>
    readList(ctx, cardFindingList, { ...one, include_auto_resolved: false }, card),
};
export const countedLists = Object.keys(counted);

/**
 * A card with what its page shows first. Parts that the caller may not see are null.
 * @throws EstateError `not_found`, `forbidden`.
 */
export async function readCardOverview(
  ctx: Ctx,
  id: string,
  parts: ReadonlySet<OverviewPart>,
  sizes: OverviewSizes,
): Promise<JsonText> {
  const members = [`"card":${await readCard(ctx, id)}`];
  const add = async (part: OverviewPart, read: () => Promise<JsonText | undefined>) => {
    if (parts.has(part)) members.push(`"${part}":${(await read()) ?? 'null'}`);
  };
  await add('hierarchy', () => readHierarchy(ctx, id, { page: 1, page_size: sizes.children }));
  await add('relations', () => relationGroups(ctx, id, sizes.relations));
  await add('permissions', async () => JSON.stringify(await readMyPermissions(ctx, id)));
  await add('counts', async () => JSON.stringify(await readCounts(ctx, id)));
  await add('quality', async () => JSON.stringify(await readQuality(ctx, id)));
  return `{${members.join(',')}}`;
}

/** The number of objects in each list of a card; null for lists that the caller may not see. */
async function readCounts(ctx: Ctx, id: string): Promise<Record<string, number | null>> {
  const counts: Record<string, number | null> = {};
  for (const [name, read] of Object.entries(counted)) {
    try {
      counts[name] = (JSON.parse(await read(ctx, id)) as { total: number }).total;
    } catch (error) {
      if (!(error instanceof EstateError) || error.code !== 'forbidden') throw error;
      counts[name] = null;
    }
  }
  return counts;
}
