import { writeCardType } from '../../inventory/metamodel/card-types/card-types.changes.ts';
import { openRun } from '../../inventory/metamodel/changes/changes.run.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { DEFAULT_LANGUAGE } from '../../kernel/metamodel/languages.ts';
import { CardTypeDefinition } from '../../kernel/metamodel/metamodel.model.ts';
import { lockRow } from '../../kernel/resources/rows.ts';

/** The card type that belongs to business process management; its relation types are hidden with it. */
const PROCESS_TYPE = 'BusinessProcess';

/**
 * Shows or hides business processes with their relation types, in a command with the exclusive metamodel lock.
 * @throws EstateError `in_use` if that breaks consumers, without `force`.
 */
export async function showProcessTypes(work: Work, ctx: Ctx, shown: boolean, force: boolean): Promise<void> {
  const row = await lockRow(work.sql, CardTypeDefinition, { key: PROCESS_TYPE });
  if (!row || row.is_hidden === !shown) return;
  const run = openRun(work, ctx, { language: DEFAULT_LANGUAGE, force });
  await writeCardType(run, row, { is_hidden: !shown });
  await run.held?.record();
}
