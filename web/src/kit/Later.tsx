import { type ReactNode, Suspense, useState } from 'react';

/** What is loaded on demand: it is rendered from the first time on that it is needed. */
export function Later({ isNeeded, children }: { isNeeded: boolean; children: ReactNode }) {
  const [wasNeeded, setWasNeeded] = useState(isNeeded);
  if (isNeeded && !wasNeeded) setWasNeeded(true);
  return wasNeeded ? <Suspense>{children}</Suspense> : null;
}
