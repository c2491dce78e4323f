import { useState } from 'react';
import { ApiError } from '#client';
import { useFieldReason, useReason } from './reasons.ts';

/**
 * Runs what a form does. While it runs, `isBusy`; errors of the service stand at their fields (`errorOf`), the others in
 * `failure`; `reason` is the first of all.
 */
export function useSubmit<T>(run: () => Promise<T>, onDone: (result: T) => void) {
  const reasonOf = useReason();
  const fieldReasonOf = useFieldReason();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | Error>();
  const known = error instanceof ApiError ? error : undefined;
  return {
    isBusy,
    error: known,
    errorOf(field: string) {
      const found = known?.errors.find((one) => one.field === field);
      return found && fieldReasonOf(found);
    },
    failure: error && !known?.errors.length ? reasonOf(error) : undefined,
    reason: error && reasonOf(error),
    submit: async (event?: { preventDefault(): void }) => {
      event?.preventDefault();
      setBusy(true);
      setError(undefined);
      try {
        onDone(await run());
      } catch (failed) {
        setError(failed as Error);
      } finally {
        setBusy(false);
      }
    },
  };
}
