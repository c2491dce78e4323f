import { EstateError, fieldError, invalidFields } from '../../../platform/errors.ts';
import { requireMaintainer } from '../../governance/compliance/findings.list.ts';
import { commandWith } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { complianceScanJob, type StartedRun, startRun } from '../runs/runs.ts';

/** The parameters of a scan, stored with its run. */
export interface ScanParameters {
  /** Keys, in the order in which they are checked. */
  regulations: string[];
  /** The day that rules use as today, `YYYY-MM-DD` in UTC, during the whole scan. */
  today: string;
}

/**
 * Starts a scan of the given regulations, enabled or not, or else of all enabled ones.
 * @throws EstateError `forbidden`, `validation_failed`; `wrong_state` while a scan is in progress, or if there is
 * nothing to check.
 */
export async function startScan(
  ctx: Ctx,
  named: readonly string[] | null,
  dryRun = false,
): Promise<StartedRun> {
  requireMaintainer(ctx);
  const start = async (work: Work) => {
    const known: { key: string; is_enabled: boolean }[] = await work
      .sql('compliance_regulations')
      .orderBy(['sort_order', 'key'])
      .select('key', 'is_enabled');
    const errors = (named ?? []).flatMap((key, n) =>
      known.some((regulation) => regulation.key === key)
        ? []
        : [fieldError(`regulations.${n}`, 'unknown_regulation', `there is no regulation "${key}"`)],
    );
    if (errors.length > 0) throw invalidFields(errors);
    const regulations = known
      .filter(({ key, is_enabled }) => (named ? named.includes(key) : is_enabled))
      .map(({ key }) => key);
    if (regulations.length === 0) throw new EstateError('wrong_state', 'No regulation is enabled.');
    const parameters: ScanParameters = { regulations, today: new Date().toISOString().slice(0, 10) };
    return await startRun(ctx, work, {
      type: 'compliance',
      job: complianceScanJob,
      parameters: { ...parameters },
    });
  };
  return await commandWith(ctx, { dryRun }, start);
}
