import { Modal } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { lazy, Suspense, useEffect } from 'react';
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
  return { isOpen, open, close };
}

/** One field that finds cards, reports, views, what belongs to cards, people, commands and areas. */
export function Palette({ isOpen, onClose }: { isOpen: boolean; onClose(): void }) {
  const t = useTexts();
  return (
    <Modal.Root opened={isOpen} onClose={onClose} padding={0} size={600} yOffset="12vh" centered={false}>
      <Modal.Overlay />
      <Modal.Content aria-label={t('nav.search')}>
        <Suspense fallback={null}>
          <PaletteField onClose={onClose} />
        </Suspense>
      </Modal.Content>
    </Modal.Root>
  );
}
