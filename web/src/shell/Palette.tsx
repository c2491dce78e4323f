import { Modal } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { lazy, type RefObject, Suspense, useEffect, useRef } from 'react';
import { useTexts } from '../kit/messages.tsx';

const load = async () => ({ default: (await import('./PaletteField.tsx')).PaletteField });
const PaletteField = lazy(load);

/** After the first page, so that it does not wait for the palette, in milliseconds. */
const LOAD_MS = 1_000;

/** Opens the palette by Ctrl-K. */
export function usePalette() {
  const [isOpen, { open, close, toggle }] = useDisclosure(false);
  useHotkeys([['mod+K', toggle]], []);
  // what is typed right after the key must not wait for the code
  useEffect(() => {
    const waiting = window.setTimeout(load, LOAD_MS);
    return () => window.clearTimeout(waiting);
  }, []);
  const early = useEarlyKeys(isOpen);
  return { isOpen, open, close, early };
}

/** What is typed between the opening of the palette and the moment that its field has the focus. */
function useEarlyKeys(isOpen: boolean): RefObject<string> {
  const typed = useRef('');
  useEffect(() => {
    typed.current = '';
    if (!isOpen) return;
    const onKeyDown = (event: KeyboardEvent) => {
      const isText = event.key.length === 1 && !event.ctrlKey && !event.metaKey && !event.altKey;
      if (!isText || (event.target instanceof Element && event.target.closest('[role=dialog] input'))) return;
      // the page below has other uses for it
      event.preventDefault();
      event.stopPropagation();
      typed.current += event.key;
    };
    window.addEventListener('keydown', onKeyDown, true);
    return () => window.removeEventListener('keydown', onKeyDown, true);
  }, [isOpen]);
  return typed;
}

interface PaletteProps {
  isOpen: boolean;
  early: RefObject<string>;
  onClose(): void;
}

/** One field that finds cards, reports, views, what belongs to cards, people, commands and areas. */
export function Palette({ isOpen, early, onClose }: PaletteProps) {
  const t = useTexts();
  return (
    <Modal.Root opened={isOpen} onClose={onClose} padding={0} size={600} yOffset="12vh" centered={false}>
      <Modal.Overlay />
      <Modal.Content aria-label={t('nav.search')}>
        <Suspense fallback={null}>
          <PaletteField early={early} onClose={onClose} />
        </Suspense>
      </Modal.Content>
    </Modal.Root>
  );
}
