import { query } from '../../../platform/database.ts';
import { activationErrors, checkCalculation } from '../../inventory/calculations/calculations.check.ts';
import type { CalculationRow } from '../../kernel/formulas/calculations.model.ts';
import { skipRows } from './transfer.diff.ts';
import { type Checking, errorsOf, skipInvalid } from './transfer.rows.ts';
import { type Page, RowRefused, type WrittenRow } from './transfer.write.ts';

const FORMULAS = 'calculations';

/** Skips formulas that are invalid in the metamodel, and active ones that cannot be active together. */
export async function checkFormulas(checking: Checking): Promise<void> {
  const { db, transferId } = checking;
  const metamodel = checking.metamodel!;
  await skipInvalid(checking, FORMULAS, (row) =>
    errorsOf(() => checkCalculation(metamodel, row as CalculationRow)),
  );
  const { rows } = query(db);
  const added = await rows<{ line: number; content: CalculationRow }>`select line, content
    from workspace_transfer_rows
    where transfer_id = ${transferId}::uuid and kind = ${FORMULAS} and action in ('create', 'update')
      and (content ->> 'is_active')::boolean order by line`;
  const stored = await query(db).column<CalculationRow>`select to_jsonb(k) from calculations k
    where k.is_active and not exists (
      select from workspace_transfer_rows s where s.transfer_id = ${transferId}::uuid and s.kind = ${FORMULAS}
        and s.ref = k.id::text and s.action = 'update')`;
  const formulas = added.map(({ content }) => content);
  const errors = activationErrors(metamodel, formulas, stored);
  const skipped = added.flatMap(({ line, content }) => {
    const error = errors.get(content.id);
    return error ? [{ line, code: error.code, message: error.message }] : [];
  });
  await skipRows(checking, FORMULAS, skipped);
}

/**
 * Checks written formulas as the commands do, under the exclusive lock of the metamodel.
 * @throws RowRefused, EstateError `field_calculated`, `calculation_cycle`.
 */
export async function requireFormulas({ work }: Page, written: readonly WrittenRow[]): Promise<void> {
  const { metamodel } = work;
  const rows = written.map(({ after }) => after as CalculationRow);
  for (const row of rows) {
    const errors = await errorsOf(() => checkCalculation(metamodel, row));
    if (errors.length > 0) throw new RowRefused(errors);
  }
  const others = await query(work.sql).column<CalculationRow>`select to_jsonb(k) from calculations k
    where k.is_active and k.id <> all(${rows.map(({ id }) => id)}::uuid[])`;
  const active = rows.filter((row) => row.is_active);
  for (const error of activationErrors(metamodel, active, others).values()) throw error;
}
