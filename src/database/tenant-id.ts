/** Id of a tenant: every row has one, every query takes one. */
export type TenantId = string & { readonly brand: 'TenantId' };
