export {};

declare module 'knex' {
  namespace Knex {
    interface RawBuilder<TRecord extends {}, TResult> {
      // biome-ignore lint/style/useShorthandFunctionType: an interface is merged with that of the package
      <TRow = TResult>(sql: string, bindings: readonly unknown[]): Raw<TRow>;
    }
  }
}
