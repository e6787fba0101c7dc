import { z } from 'zod';

export const uiParam = z.object({ agent: z.string().describe('A name in `ui` of langgraph.json') });
export type UiParam = z.output<typeof uiParam>;

export const uiFileParam = uiParam.extend({ basename: z.string() });
export type UiFileParam = z.output<typeof uiFileParam>;

export const loadUiSchema = z.object({ name: z.string().describe('Component, as the default export names it') });
export type LoadUi = z.output<typeof loadUiSchema>;

export const uiFileQuery = z.object({ v: z.string().optional().describe('Version that the tags name') });
export type UiFileQuery = z.output<typeof uiFileQuery>;
