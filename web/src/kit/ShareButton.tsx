import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { Icon } from './Icon.tsx';
import { useTexts } from './messages.tsx';

/** Copies the address of the page, which holds all that it shows. */
export function ShareButton() {
  const t = useTexts();
  const { copied, copy } = useClipboard({ timeout: 2_000 });
  return (
    <Button
      variant="default"
      leftSection={<Icon name={copied ? 'check' : 'link'} />}
      onClick={() => copy(window.location.href)}
    >
      {t(copied ? 'share.copied' : 'share.copy')}
    </Button>
  );
}
