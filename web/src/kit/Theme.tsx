import { createTheme, type MantineColorsTuple, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { type ReactNode, useMemo } from 'react';
import { radius, schemes, type } from '../../../reports/kernel/charts/charts.tokens.ts';
import { useTexts } from './messages.tsx';
import { styleNonce } from './nonce.ts';
import { cssVariables } from './tokens.ts';

const { light, dark } = schemes;

/** Mantine takes ten shades: the accent of the light scheme is at 6, that of the dark one at 4. */
const accent: MantineColorsTuple = [
  '#eef0fc',
  '#dde1f9',
  '#bac2f3',
  '#a7b1fb',
  dark.accent,
  '#6a78dc',
  light.accent,
  '#3743a8',
  '#2d378b',
  '#232b6e',
];

/** What is bad or cannot be taken back, with the same shades for the two schemes. */
const red: MantineColorsTuple = [
  light.tones.bad.tint,
  '#f9d9d6',
  '#f3b5b0',
  '#f49a92',
  dark.tones.bad.ink,
  '#d4493f',
  light.tones.bad.ink,
  '#96201a',
  '#7a1a15',
  '#5e1410',
];

/** The greys of the dark scheme, from text to canvas; Mantine takes its fields, buttons and lines from them. */
const greys: MantineColorsTuple = [
  dark.text,
  '#c9cbd1',
  dark.text2,
  dark.text3,
  dark.hairlineStrong,
  '#2b2e34',
  dark.sunken,
  dark.panel,
  '#141518',
  dark.canvas,
];

const theme = createTheme({
  colors: { accent, red, dark: greys },
  primaryColor: 'accent',
  primaryShade: { light: 6, dark: 4 },
  autoContrast: true,
  fontFamily: "'Inter Variable', 'Helvetica Neue', Arial, sans-serif",
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, monospace',
  fontSizes: {
    xs: `${type.base.size}px`,
    sm: `${type.base.size}px`,
    md: `${type.panel.size}px`,
    lg: `${type.reading.size}px`,
    xl: `${type.title.size}px`,
  },
  headings: { fontWeight: '600' },
  radius: {
    sm: `${radius.chip}px`,
    md: `${radius.control}px`,
    lg: `${radius.panel}px`,
    xl: `${radius.dialog}px`,
  },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    InputWrapper: {
      // the sizes of Mantine for small controls are below the smallest text
      vars: () => ({
        label: { '--input-label-size': `${type.secondary.size}px` },
        description: { '--input-description-size': `${type.secondary.size}px` },
        error: { '--input-error-size': `${type.secondary.size}px` },
      }),
    },
    Button: {
      defaultProps: { size: 'xs' },
      // Mantine knows the contrast in the light scheme only
      vars: (_: unknown, { variant = 'filled', color }: { variant?: string; color?: string }) => ({
        root: {
          '--button-fz': 'var(--text-secondary)',
          ...(variant === 'filled' &&
            (color === undefined || color === 'red') && { '--button-color': 'var(--onAccent)' }),
        },
      }),
    },
    ActionIcon: { defaultProps: { variant: 'subtle', color: 'gray' } },
    // as large as the values that they edit
    Input: { vars: () => ({ wrapper: { '--input-fz': 'var(--text-base)' } }) },
    TextInput: { defaultProps: { size: 'xs' } },
    PasswordInput: { defaultProps: { size: 'xs' } },
    Textarea: { defaultProps: { size: 'xs' } },
    NumberInput: { defaultProps: { size: 'xs' } },
    Select: { defaultProps: { size: 'xs' } },
    MultiSelect: { defaultProps: { size: 'xs' } },
    Checkbox: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { openDelay: 400 } },
    Menu: { defaultProps: { shadow: 'md', transitionProps: { duration: 0 } } },
    Modal: { defaultProps: { transitionProps: { duration: 120 }, centered: true } },
    Drawer: { defaultProps: { transitionProps: { duration: 120 } } },
  },
});

/** Colours, sizes and Mantine's theme for all pages. */
export function Theme({ children }: { children: ReactNode }) {
  const t = useTexts();
  const named = useMemo(() => {
    const closeButtonProps = { 'aria-label': t('action.close') };
    const components = { ...theme.components, Notification: { defaultProps: { closeButtonProps } } };
    return { ...theme, components };
  }, [t]);
  return (
    <MantineProvider
      theme={named}
      defaultColorScheme="auto"
      getStyleNonce={styleNonce}
      cssVariablesResolver={() => cssVariables}
    >
      {children}
      <Notifications position="bottom-right" limit={3} />
    </MantineProvider>
  );
}
