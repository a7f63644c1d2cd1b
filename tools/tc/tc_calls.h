/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of the tc program that the plugin calls. The dynamic linker finds them in the tc
 * that loads the plugin. The check check-tc-plugin compiles these with iproute2's own.
 */
#ifndef TURNPIKE_TC_CALLS_H
#define TURNPIKE_TC_CALLS_H

/* tc -s */
extern int show_stats;

/* Netlink attributes; @room is how long the message may get. */
int addattr8(struct nlmsghdr *message, int room, int type, __u8 value);
int addattr32(struct nlmsghdr *message, int room, int type, __u32 value);
int addattr64(struct nlmsghdr *message, int room, int type, __u64 value);
int addattr_l(struct nlmsghdr *message, int room, int type, const void *value, int bytes);
struct rtattr *addattr_nest(struct nlmsghdr *message, int room, int type);
int addattr_nest_end(struct nlmsghdr *message, struct rtattr *nest);
int parse_rtattr_flags(struct rtattr *attributes[], int max, struct rtattr *first, int bytes,
		       unsigned short ignored_flags);

/* Words of the command line; 0, or what is not 0 if the word is none. */
int get_u8(__u8 *value, const char *text, int base);
int get_u32(__u32 *value, const char *text, int base);
int get_s32(__s32 *value, const char *text, int base);
int get_size(unsigned int *bytes, const char *text);
int get_time64(__s64 *ns, const char *text);
int get_rate64(__u64 *bytes_per_s, const char *text);
int get_percent_rate64(__u64 *bytes_per_s, const char *text, const char *dev);

/* Output: @format prints the value as text, @key names it in JSON. */
bool is_json_context(void);
void open_json_array(enum output_type type, const char *key);
void close_json_array(enum output_type type, const char *text);
void print_nl(void);
char *sprint_time64(__s64 ns, char *buffer);
void tc_print_rate(enum output_type type, const char *key, const char *format,
		   unsigned long long bytes_per_s);

/* print_color_NAME(), and without colour print_NAME(), which in tc is an inline function. */
#define TC_PRINT(name, value_type) \
	int print_color_##name(enum output_type type, enum color_attr color, const char *key, \
			       const char *format, value_type value)

TC_PRINT(bool, bool);
TC_PRINT(float, double);
TC_PRINT(int, int);
TC_PRINT(lluint, unsigned long long);
TC_PRINT(null, const char *);
TC_PRINT(s64, int64_t);
TC_PRINT(string, const char *);
TC_PRINT(u64, uint64_t);
TC_PRINT(uint, unsigned int);
/*
 * A __u32 before 6.18. The last argument of 64 bits is passed where one of 32 bits is
 * looked for, but not the other way round: so this is right for both.
 */
TC_PRINT(size, __u64);

#endif
