/** The nonce that the service wrote into the page, without which the policy blocks inline style elements. */
export const styleNonce = () =>
  document.querySelector<HTMLMetaElement>('meta[name=style-nonce]')?.content ?? '';
