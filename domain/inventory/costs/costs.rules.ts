import type { FieldError } from '../../../platform/errors.ts';
import { unknownChoice } from '../../kernel/choices.ts';
import { isDay } from '../../kernel/dates.ts';
import type { SettingValues } from '../../kernel/settings/settings.read.ts';
import type { CostInput } from './costs.model.ts';

/** The settings that costs depend on. */
export type CostSettings = Pick<SettingValues, 'currency' | 'exchange_rates' | 'cost_kinds'>;

/** Whether amounts in a currency can be converted into the currency of the workspace. */
const isConvertible = (settings: CostSettings, currency: string): boolean =>
  currency === settings.currency || settings.exchange_rates.some((one) => one.currency === currency);

/**
 * The errors of a cost, whose shape is valid. Values that are not changed are not checked.
 * @param before the cost that is changed.
 */
export function costErrors(
  settings: CostSettings,
  after: CostInput,
  before: Partial<CostInput> = {},
): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['period_start', 'period_end'] as const) {
    if (!isDay(after[field])) errors.push({ field, code: 'bad_date', message: 'is not an existing date' });
  }
  if (after.period_end < after.period_start) {
    errors.push({ field: 'period_end', code: 'before_start', message: 'is before period_start' });
  }
  if (after.kind !== before.kind && !settings.cost_kinds.some(({ key }) => key === after.kind)) {
    const keys = settings.cost_kinds.map(({ key }) => key);
    const error = { field: 'kind', code: 'unknown_option', message: `is none of ${keys.join(', ')}` };
    errors.push(unknownChoice(error, after.kind, keys));
  }
  if (after.currency !== before.currency && !isConvertible(settings, after.currency)) {
    const message = `has no exchange rate to ${settings.currency} in the setting exchange-rates`;
    errors.push({ field: 'currency', code: 'no_exchange_rate', message });
  }
  return errors;
}
