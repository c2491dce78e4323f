import { useState } from 'react';
import { ApiError } from '#client';
import { useTexts } from './messages.tsx';

/**
 * Runs what a form does. While it runs, `isBusy`; errors of the service stand at their fields (`errorOf`), the others in
 * `failure`.
 */
export function useSubmit<T>(run: () => Promise<T>, onDone: (result: T) => void) {
  const t = useTexts();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | Error>();
  const known = error instanceof ApiError ? error : undefined;
  return {
    isBusy,
    error: known,
    errorOf: (field: string) => known?.errors.find((one) => one.field === field)?.message,
    failure:
      error && !known?.errors.length ? (known?.status === 0 ? t('error.offline') : error.message) : undefined,
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
