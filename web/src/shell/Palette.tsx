import { Modal } from '@mantine/core';
import { useDisclosure, useHotkeys } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import { useTexts } from '../kit/messages.tsx';

const PaletteField = lazy(async () => ({ default: (await import('./PaletteField.tsx')).PaletteField }));

/** Opens the palette by Ctrl-K. */
export function usePalette() {
  const [isOpen, { open, close, toggle }] = useDisclosure(false);
  useHotkeys([['mod+K', toggle]], []);
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
