/* In which line of a YAML text a key stands. libcyaml forgets the lines once it has loaded a text, so the text is read
 * again, by libyaml, when an error is to name one. */
#include <string.h>
#include <yaml.h>
#include "machine/platform_schema.h"

/* The node of `key` in a mapping; NULL: there is none. */
static yaml_node_t *value_of(yaml_document_t *document, yaml_node_t *mapping, const char *key)
{
	if (!mapping || mapping->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *p = mapping->data.mapping.pairs.start; p < mapping->data.mapping.pairs.top; p++) {
		const yaml_node_t *name = yaml_document_get_node(document, p->key);
		if (name && name->type == YAML_SCALAR_NODE && strcmp((char *)name->data.scalar.value, key) == 0)
			return yaml_document_get_node(document, p->value);
	}
	return NULL;
}

/* Element `i` of a sequence; NULL: there is none. */
static yaml_node_t *element(yaml_document_t *document, yaml_node_t *sequence, size_t i)
{
	if (!sequence || sequence->type != YAML_SEQUENCE_NODE)
		return NULL;
	const yaml_node_item_t *items = sequence->data.sequence.items.start;
	return i < (size_t)(sequence->data.sequence.items.top - items) ? yaml_document_get_node(document, items[i])
	                                                               : NULL;
}

size_t hd_yaml_line(const char *yaml, size_t length, const char *list, size_t i, const char *key)
{
	yaml_parser_t parser;
	yaml_document_t document;
	size_t line = 0;
	if (!yaml_parser_initialize(&parser))
		return 0;
	yaml_parser_set_input_string(&parser, (const unsigned char *)yaml, length);
	if (yaml_parser_load(&parser, &document)) {
		yaml_node_t *entry =
		    element(&document, value_of(&document, yaml_document_get_root_node(&document), list), i);
		const yaml_node_t *value = value_of(&document, entry, key);
		const yaml_node_t *found = value ? value : entry;
		line = found ? found->start_mark.line + 1 : 0;
		yaml_document_delete(&document);
	}
	yaml_parser_delete(&parser);
	return line;
}
