import { useEffect, useRef } from 'react';

/** How long a page may take to show its heading, in milliseconds. */
const PATIENCE_MS = 5_000;

/**
 * Moves the focus to the heading of a page when another page is opened, so that Tab goes on from there and screen readers
 * say where one is; not if the page has put the focus somewhere itself.
 */
export function useFocusOnHeading(path: string): void {
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    const before = document.querySelector('#content h1');
    last.current = path;
    const find = () => {
      const heading = document.querySelector<HTMLElement>('#content h1');
      if (!heading || heading === before) return false;
      const { activeElement } = document;
      if (!activeElement || activeElement === document.body || activeElement.closest('nav')) {
        heading.tabIndex = -1;
        heading.focus({ preventScroll: true });
      }
      return true;
    };
    if (find()) return;
    const content = document.querySelector('#content');
    if (!content) return;
    const observer = new MutationObserver(() => {
      if (find()) observer.disconnect();
    });
    observer.observe(content, { childList: true, subtree: true });
    const timer = window.setTimeout(() => observer.disconnect(), PATIENCE_MS);
    return () => {
      observer.disconnect();
      window.clearTimeout(timer);
    };
  }, [path]);
}
