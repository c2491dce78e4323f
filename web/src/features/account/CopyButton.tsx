import { Button } from '@mantine/core';
import { useTexts } from '../../kit/messages.tsx';
import styles from './account.module.css';

/** Copies a text that is shown above. */
export function CopyButton({ text }: { text: string }) {
  const t = useTexts();
  return (
    <div className={styles.actions}>
      <Button variant="default" onClick={() => navigator.clipboard.writeText(text)}>
        {t('action.copy')}
      </Button>
    </div>
  );
}
