import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useState } from 'react';
import { Icon } from './Icon.tsx';
import { useTexts } from './messages.tsx';
import { PinMenu } from './PinMenu.tsx';
import { SaveDialog } from './SaveDialog.tsx';
import { type SavedView, savedTypeOf } from './saved.ts';

/** Saves what a page shows under a name, or puts it on a dashboard. */
export function SaveView({ title, view }: { title: string; view: SavedView }) {
  const t = useTexts();
  const [isSaving, setSaving] = useState(false);
  const close = () => setSaving(false);
  return (
    <>
      <PinMenu tile={{ title, width: 2, ...view }} />
      <Button variant="default" leftSection={<Icon name="bookmark" />} onClick={() => setSaving(true)}>
        {t('action.save')}
      </Button>
      {isSaving && (
        <SaveDialog
          title={t('save.saveAs')}
          type={savedTypeOf(view.path)}
          name={title}
          config={{ ...view }}
          onClose={close}
          onDone={({ name }) => {
            close();
            notifications.show({ message: t('save.done', { name }) });
          }}
        />
      )}
    </>
  );
}
