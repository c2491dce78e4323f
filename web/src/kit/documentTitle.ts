import { useEffect } from 'react';
import { useBootstrap } from '../shell/queries.ts';

/** Names the page in the title of the window, which tells tabs apart and is read aloud first. @param read its heading now. */
export function useDocumentTitle(read: () => string | null | undefined): void {
  const app = useBootstrap().app_title || 'Estate';
  useEffect(() => {
    const heading = read()?.trim();
    if (heading) document.title = heading === app ? app : `${heading} · ${app}`;
  });
}
