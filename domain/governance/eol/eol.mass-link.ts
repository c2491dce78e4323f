import type { Sql } from '../../../platform/database.ts';
import type { ErrorCode } from '../../../platform/errors.ts';
import { loadCards, lockCards, type StoredCard, typeOf } from '../../inventory/cards/cards.load.ts';
import { EDIT } from '../../inventory/cards/cards.patch.ts';
import { type CardWrite, saveCards, settled } from '../../inventory/cards/cards.save.ts';
import { patchedValues } from '../../inventory/cards/rules/merge.ts';
import { validateCardInput } from '../../inventory/cards/rules/values.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { EOL_CYCLE, EOL_PRODUCT } from '../../kernel/metamodel/eol.fields.ts';
import { mayOnCard, requirePermission } from '../../kernel/permissions/policy.ts';

/** A card and what it is linked to. */
export interface EolLink {
  card_id: string;
  eol_product: string;
  eol_cycle: string;
}

/** Why one link was not made. */
interface EolLinkError {
  /** The place in the request, from 0. */
  row_index: number;
  card_id: string;
  code: ErrorCode | 'duplicate' | 'unknown_product' | 'unknown_cycle' | 'not_linked';
  message: string;
}

export interface MassLinkAnswer {
  dry_run: boolean;
  /** Cards that are linked as asked now, those that were already included. */
  linked: number;
  /** Those of them that were linked so before. */
  unchanged: number;
  errors: EolLinkError[];
}

class Refused extends Error {
  readonly code: EolLinkError['code'];
  constructor(code: EolLinkError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Links cards to release cycles of products, by the rules of a change of these attributes, in a fixed number of
 * statements. A row that is refused stops no other.
 * @throws EstateError `forbidden` without `eol.manage`.
 */
export async function massLink(ctx: Ctx, links: EolLink[], dryRun: boolean): Promise<MassLinkAnswer> {
  requirePermission(ctx.caller, 'eol.manage');
  const rows = links.map((link) => ({ ...link, card_id: link.card_id.toLowerCase() }));
  return await command(
    ctx,
    async (work) => {
      const wanted = [...new Set(rows.map(({ card_id }) => card_id))];
      await lockCards(work, wanted);
      const cards = await loadCards(work, ctx, wanted);
      const known = await knownCycles(work.sql, rows);
      const seen = new Set<string>();
      const writes: CardWrite[] = [];
      const errors: EolLinkError[] = [];
      for (const [row_index, row] of rows.entries()) {
        try {
          if (seen.has(row.card_id)) throw new Refused('duplicate', 'An earlier row links the same card.');
          seen.add(row.card_id);
          writes.push(linkedCard(work, ctx, cards.get(row.card_id), row, known));
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          errors.push({ row_index, card_id: row.card_id, code: error.code, message: error.message });
        }
      }
      const saved = await saveCards(work, ctx, writes);
      return {
        dry_run: dryRun,
        linked: writes.length,
        unchanged: writes.length - saved.length,
        errors,
      };
    },
    { dryRun },
  );
}

function linkedCard(
  work: Work,
  ctx: Ctx,
  before: StoredCard | undefined,
  { card_id, eol_product, eol_cycle }: EolLink,
  known: ReadonlyMap<string, ReadonlySet<string>>,
): CardWrite {
  if (!before) throw new Refused('not_found', `There is no card ${card_id}.`);
  if (!mayOnCard(ctx, EDIT, before)) throw new Refused('forbidden', `You need the permission ${EDIT.app}.`);
  const type = typeOf(work.metamodel, before);
  if (!type.fields.has(EOL_PRODUCT) || !type.fields.has(EOL_CYCLE)) {
    throw new Refused('not_linked', `Cards of the type ${type.key} are linked to no products.`);
  }
  const cycles = known.get(eol_product);
  if (!cycles) throw new Refused('unknown_product', `There is no product ${eol_product}.`);
  if (!cycles.has(eol_cycle)) {
    throw new Refused('unknown_cycle', `${eol_product} has no cycle ${eol_cycle}.`);
  }
  const input = { attributes: { [EOL_PRODUCT]: eol_product, [EOL_CYCLE]: eol_cycle } };
  const faults = validateCardInput(work.metamodel, type.key, input, { stored: before.attributes });
  if (faults[0]) throw new Refused('validation_failed', `${faults[0].field} ${faults[0].message}.`);
  const after: StoredCard = { ...before, ...patchedValues(before, input, []) };
  return { before, after: settled(type, before, after) };
}

/** The cycles of the products that are named. */
async function knownCycles(sql: Sql, links: EolLink[]): Promise<Map<string, ReadonlySet<string>>> {
  const names = [...new Set(links.map(({ eol_product }) => eol_product))];
  const { rows } = await sql.raw(
    `select p.name, array(select y.cycle from eol_cycles y where y.product = p.name) as cycles
     from eol_products p where p.name = any(?::text[])`,
    [names] as never,
  );
  return new Map(rows.map(({ name, cycles }: { name: string; cycles: string[] }) => [name, new Set(cycles)]));
}
