import { type ReactNode, Suspense, useDeferredValue, useState } from 'react';

/** False while a page is drawn first, then true: for what the first look at it does not need. */
export const useIsDrawn = (): boolean => useDeferredValue(true, false);

/** What is loaded on demand: it is rendered from the first time on that it is needed. */
export function Later({ isNeeded, children }: { isNeeded: boolean; children: ReactNode }) {
  const [wasNeeded, setWasNeeded] = useState(isNeeded);
  if (isNeeded && !wasNeeded) setWasNeeded(true);
  return wasNeeded ? <Suspense>{children}</Suspense> : null;
}
