import { queryRows } from '../../../../platform/database.ts';
import { EstateError } from '../../../../platform/errors.ts';
import { may } from '../../../kernel/permissions/policy.ts';
import type { ChangeRun, Impact } from './changes.types.ts';
import { convertValue } from './values.convert.ts';
import type { ValueChanges } from './values.diff.ts';
import { holdsOption } from './values.diff.ts';

type Measured = Pick<Impact, 'removed_fields' | 'removed_options' | 'changed_fields'>;

/** Where values are stored: the cards, or the relations, of one type. */
export interface Holder {
  table: 'cards' | 'relations';
  type: string;
}

const EXAMPLES = 20;
const MAX_EXAMPLE = 200;
const CHUNK = 5_000;

/** Counts the rows that hold what the changes take away or convert. */
export async function measureValues(
  run: ChangeRun,
  holder: Holder,
  changes: ValueChanges,
): Promise<Measured> {
  const measured: Measured = { removed_fields: [], removed_options: [], changed_fields: [] };
  for (const field_key of changes.removed) {
    const affected = await countRows(run, holder, 'jsonb_exists(t.attributes, ?)', [field_key]);
    measured.removed_fields.push({ field_key, affected });
  }
  for (const { field, removed } of changes.options) {
    for (const option_key of removed) {
      const held = [field, [option_key], field, [option_key]];
      const affected = await countRows(run, holder, holdsOption('t.attributes'), held);
      measured.removed_options.push({ field_key: field, option_key, affected });
    }
  }
  for (const retyped of changes.retyped) {
    measured.changed_fields.push(await measureRetyped(run, holder, retyped));
  }
  return measured;
}

/** How many cards or relations of the type fit a condition over the alias `t`. */
export async function countRows(
  { work }: Pick<ChangeRun, 'work'>,
  { table, type }: Holder,
  condition: string,
  bindings: unknown[] = [],
): Promise<number> {
  const rows = await queryRows<{ total: number }>(
    work.sql,
    `select count(*) as total from ${table} t where t.type = ? and (${condition})`,
    [type, ...bindings],
  );
  return rows[0]!.total;
}

async function measureRetyped(
  { work, ctx }: ChangeRun,
  { table, type }: Holder,
  { from, to }: ValueChanges['retyped'][number],
): Promise<Impact['changed_fields'][number]> {
  const found = { affected: 0, converted: 0, misfits: 0 };
  const examples: { id: string; value?: unknown }[] = [];
  const seen = may(ctx.caller, 'inventory.view') && (table === 'cards' || may(ctx.caller, 'relations.view'));
  const shown = from.type !== 'cost' || may(ctx.caller, 'costs.view');
  for (let last = '00000000-0000-0000-0000-000000000000'; ; ) {
    const { rows } = await work.sql.raw(
      `select t.id, t.attributes -> ?::text as value from ${table} t
       where t.type = ? and t.id > ?::uuid and jsonb_exists(t.attributes, ?) order by t.id limit ${CHUNK}`,
      [from.key, type, last, from.key],
    );
    for (const { id, value } of rows) {
      found.affected += 1;
      if (convertValue(to, value) !== undefined) found.converted += 1;
      else {
        found.misfits += 1;
        if (seen && examples.length < EXAMPLES) {
          examples.push(shown ? { id, value: shortened(value) } : { id });
        }
      }
    }
    if (rows.length < CHUNK) break;
    last = rows.at(-1).id;
  }
  return { field_key: from.key, from: from.type, to: to.type, ...found, examples };
}

function shortened(value: unknown): unknown {
  return typeof value === 'string' && value.length > MAX_EXAMPLE ? `${value.slice(0, MAX_EXAMPLE)}…` : value;
}

/**
 * Refuses a change that would lose values, unless `force` is given.
 * @throws EstateError `values_do_not_fit` with the fields and some of the values.
 */
export function refuseMisfits(run: ChangeRun, { changed_fields }: Pick<Impact, 'changed_fields'>): void {
  const misfits = changed_fields.filter((field) => field.misfits > 0);
  if (run.force || run.dryRun || misfits.length === 0) return;
  const names = misfits.map((field) => `${field.field_key} (${field.misfits})`).join(', ');
  throw new EstateError(
    'values_do_not_fit',
    `Stored values do not fit the new type of ${names}. Change them, or give them up with force=true.`,
    { extra: { changed_fields: misfits } },
  );
}
