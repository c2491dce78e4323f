import { Modal } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { useTexts } from './messages.tsx';

interface DialogProps {
  title: string;
  size?: 'sm' | 'md' | 'lg' | 'xl';
  onClose(): void;
  children: ReactNode;
}

/** An open dialog; it exists only while it is shown, and gives the focus back to where it was. */
export function Dialog({ title, size = 'md', onClose, children }: DialogProps) {
  const t = useTexts();
  const [before] = useState(() => document.activeElement);
  useEffect(
    () => () => {
      const { activeElement } = document;
      const isLeft = activeElement === document.body || activeElement?.closest('[role=dialog]') !== null;
      if (isLeft && before instanceof HTMLElement) before.focus({ preventScroll: true });
    },
    [before],
  );
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size={size}
      // a click beside it must not lose what was typed
      closeOnClickOutside={false}
      closeButtonProps={{ 'aria-label': t('action.close') }}
    >
      {children}
    </Modal>
  );
}
