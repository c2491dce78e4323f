import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTexts } from './messages.tsx';

interface DialogProps {
  title: string;
  size?: 'sm' | 'md' | 'lg' | 'xl';
  onClose(): void;
  children: ReactNode;
}

/** An open dialog; it exists only while it is shown. */
export function Dialog({ title, size = 'md', onClose, children }: DialogProps) {
  const t = useTexts();
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
