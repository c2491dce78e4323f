import { useEffect, useRef } from 'react';
import { useSetting } from './setting.ts';

/** Whether single keys do something, which a person can turn off: speech input types them by mistake. */
export function useSingleKeys(): [boolean, (isOn: boolean) => void] {
  const [stored, change] = useSetting<boolean>('keys.single');
  return [stored !== false, change];
}

/** Whether a key belongs to what has the focus. */
const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  target.closest(
    'input:not([type=checkbox]), textarea, select, [contenteditable=true], [role=dialog], [role=menu]',
  ) !== null;

/** What single keys do on a page, unless something is typed or a dialog is open. */
export function useKeys(keys: Readonly<Record<string, () => void>>): void {
  const [isOn] = useSingleKeys();
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    if (!isOn) return;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
        return;
      const act = Object.hasOwn(latest.current, event.key) ? latest.current[event.key] : undefined;
      if (!act) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [isOn]);
}
